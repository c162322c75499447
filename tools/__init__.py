"""What makes files of the package from elsewhere."""
