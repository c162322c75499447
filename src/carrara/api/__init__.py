"""What `import carrara` offers; of ours only `carrara.rl`, a door too, and `carrara train` import it."""
