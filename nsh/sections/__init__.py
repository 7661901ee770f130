"""What single pages of the book show: tables, figures and boxes, built from the statistics of `nsh`."""
