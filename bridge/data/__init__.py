"""Files that come with the sidecar: the model catalog and the default lists."""
