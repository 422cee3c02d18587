# Writes the code blocks of one language of pages, with the pages' line numbers.
# usage: awk -v language=cpp -v output=FILE -f blocks.awk PAGE.md...
BEGIN { printf "" >output }
$0 == "```" language {
  inside = 1
  printf "#line %d \"%s\"\n", FNR + 1, FILENAME >output
  next
}
$0 == "```" { inside = 0 }
inside { print >output }
