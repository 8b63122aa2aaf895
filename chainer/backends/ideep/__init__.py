"""The iDeep backend: arrays in the blocked layouts of oneDNN."""
