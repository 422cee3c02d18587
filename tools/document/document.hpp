// What a tool tells: a document of names and values, printed for people or as JSON for programs. Both have the same
// contents.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// Names with values, nested, in the order in which they were added.
using Document = nlohmann::ordered_json;

/// A line for each name with its value, indented where documents are nested. An array of documents without nested ones
/// is a table. What is null is printed as "-".
[[nodiscard]] std::string text_of(const Document& document);

/// Prints on standard output.
void print_document(const Document& document, bool as_json);
