"""What `import carrara` offers; nothing else of ours imports it."""
