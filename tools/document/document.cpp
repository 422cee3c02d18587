#include "document.hpp"

#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view step = "  ";

std::string words(const std::string& name) {
  std::string text = name;
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// In one line: names may come from files that nobody checked.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

std::string text_of_scalar(const Document& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

bool is_flat(const Document& value) {
  return std::none_of(value.begin(), value.end(), [](const Document& each) { return each.is_structured(); });
}

bool is_table(const Document& value) {
  return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), [&](const Document& row) {
           return row.is_object() && is_flat(row) && row.size() == value.front().size();
         });
}

struct Column {
  std::vector<std::string> cells;  ///< the first is the heading
  std::size_t width = 0;
  bool is_numeric = true;

  void add(std::string cell) {
    width = std::max(width, cell.size());
    cells.push_back(std::move(cell));
  }
};

std::string padded(const Column& column, std::size_t line) {
  const std::string& cell = column.cells[line];
  const std::string space(column.width - cell.size(), ' ');
  return column.is_numeric ? space + cell : cell + space;
}

void append_table(std::string& text, const Document& rows, const std::string& indent) {
  std::vector<Column> columns;
  for (const auto& item : rows.front().items()) columns.emplace_back().add(words(item.key()));
  for (const Document& row : rows) {
    auto column = columns.begin();
    for (const Document& value : row) {
      column->is_numeric = column->is_numeric && (value.is_number() || value.is_null());
      (column++)->add(text_of_scalar(value));
    }
  }
  for (std::size_t line = 0; line <= rows.size(); ++line) {
    std::string cells = indent;
    for (const Column& column : columns) cells += padded(column, line) + std::string(step);
    text += cells.substr(0, cells.find_last_not_of(' ') + 1) + "\n";
  }
}

void append(std::string& text, const Document& value, const std::string& indent);

void append_member(std::string& text, const std::string& name, const Document& value, const std::string& indent) {
  text += indent + words(name) + ":";
  if (!value.is_structured()) {
    text.append(1, ' ').append(text_of_scalar(value)).append(1, '\n');
  } else if (value.empty()) {
    text += " none\n";
  } else if (value.is_array() && is_flat(value)) {
    for (const Document& each : value) text.append(&each == &value.front() ? " " : ", ").append(text_of_scalar(each));
    text += "\n";
  } else {
    text += "\n";
    append(text, value, indent + std::string(step));
  }
}

/// An object, or an array that holds more than scalars.
void append(std::string& text, const Document& value, const std::string& indent) {
  if (is_table(value)) {
    append_table(text, value, indent);
  } else if (value.is_array()) {
    for (const Document& each : value) {
      const std::size_t begin = text.size();
      append(text, each, indent + std::string(step));
      if (text.size() > begin) text[begin + indent.size()] = '-';
    }
  } else {
    for (const auto& item : value.items()) append_member(text, item.key(), item.value(), indent);
  }
}

}  // namespace

std::string text_of(const Document& document) {
  std::string text;
  append(text, document, "");
  return text;
}

void print_document(const Document& document, bool as_json) {
  // What is no UTF-8 is replaced: names may come from files that nobody checked.
  std::cout << (as_json ? document.dump(2, ' ', false, Document::error_handler_t::replace) + "\n" : text_of(document));
}
