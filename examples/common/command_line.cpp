#include "command_line.hpp"

#include "standard_output.hpp"

#include <CLI/CLI.hpp>

#include <bit>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <type_traits>

namespace {

constexpr int usage_error = 2;

template <class Value>
constexpr bool holds_number = std::is_arithmetic_v<Value> || std::is_same_v<Value, std::optional<std::uint32_t>>;

/// CLI11 takes an empty text for the number 0.
std::string refuse_empty(const std::string& text) { return text.empty() ? "a number is missing" : ""; }

/// CLI11's message for a flag with a value is its own jargon.
std::string in_our_words(const std::string& message) {
  const std::size_t jargon = message.find(" was given a disallowed flag override");
  return jargon == std::string::npos ? message : "--" + message.substr(0, jargon) + " is a flag: it takes no value";
}

}  // namespace

CommandLineOption& CommandLineOption::value_name(const std::string& name) {
  option_->option_text(name);
  return *this;
}

CommandLineOption& CommandLineOption::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

CommandLineOption& CommandLineOption::description(const std::string& text) {
  option_->description(text);
  return *this;
}

CommandLineOption& CommandLineOption::hidden() { return group(""); }

CommandLineOption& CommandLineOption::required() {
  option_->required();
  return *this;
}

CommandLineOption& CommandLineOption::take_last() {
  option_->take_last();
  return *this;
}

CommandLineOption& CommandLineOption::delimiter(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

CommandLineOption& CommandLineOption::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

CommandLineOption& CommandLineOption::between(std::uint64_t least, std::uint64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandLineOption& CommandLineOption::power_of_two() {
  return check([](const std::string& text) {
    return std::has_single_bit(std::strtoull(text.c_str(), nullptr, 10)) ? std::string() : text + " is no power of two";
  });
}

CommandLineOption& CommandLineOption::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

CommandLineOption& CommandLineOption::check(const std::function<std::string(const std::string&)>& error) {
  option_->check(error);
  return *this;
}

CommandLineOption& CommandLineOption::excludes(const CommandLineOption& other) {
  option_->excludes(other.option_);
  return *this;
}

bool CommandLineOption::is_given() const { return option_->count() > 0; }

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : app_(std::make_unique<CLI::App>(description, program)) {
  app_->set_help_flag("-h,--help", "Print this and end");
}

CommandLine::~CommandLine() = default;

CommandLineOption CommandLine::option(const std::string& name, Value value, const std::string& description) {
  return std::visit(
      [&](auto* target) {
        CLI::Option& option = *app_->add_option(name, *target, description);
        if constexpr (holds_number<std::remove_pointer_t<decltype(target)>>) option.check(refuse_empty);
        return CommandLineOption(option);
      },
      value);
}

CommandLineOption CommandLine::option(const std::string& name, const std::function<void(const std::string&)>& receive,
                                      const std::string& description) {
  return CommandLineOption(*app_->add_option_function<std::string>(name, receive, description));
}

CommandLineOption CommandLine::flag(const std::string& names, bool& value, const std::string& description) {
  return CommandLineOption(*app_->add_flag(names, value, description)->disable_flag_override());
}

void CommandLine::command(const std::string& name, bool& chosen, const std::string& description) {
  app_->add_subcommand(name, description)->fallthrough()->callback([&chosen] { chosen = true; });
}

void CommandLine::parse_or_exit(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_help_and_exit();
  } catch (const CLI::ParseError& error) {
    refuse(in_our_words(error.what()));
  }
}

void CommandLine::print_help_and_exit() const {
  try {
    require_standard_output();
    std::cout << app_->help();
    flush_standard_output();
  } catch (const std::exception& error) {
    std::cerr << app_->get_name() << ": " << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);  // guard_standard_output would tell it again
  }
  std::exit(EXIT_SUCCESS);
}

void CommandLine::refuse(const std::string& why) const {
  std::cerr << app_->get_name() << ": " << why << " (--help lists the options)\n";
  std::exit(usage_error);
}
