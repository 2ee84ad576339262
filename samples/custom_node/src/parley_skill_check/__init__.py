"""A node type for Parley workflows: SkillCheck."""
