"""What the words of dictionaries decide: keys of groups, and conditions of scans."""
