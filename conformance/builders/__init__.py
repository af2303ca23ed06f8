"""The builders of the cases: each module makes the files of one format."""
