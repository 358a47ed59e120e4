"""Everything a report shows, as plain data: gathered from an answer, drawn by `render`."""
