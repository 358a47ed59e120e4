"""Arrays in, arrays out: no names, dates, files or printing below this line."""
