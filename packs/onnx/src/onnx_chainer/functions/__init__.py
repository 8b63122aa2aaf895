"""Names that converters of earlier releases import."""
