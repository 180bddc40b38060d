"""The pure core of lifecycle-wrap: bytes, sizes and times in; events out."""
