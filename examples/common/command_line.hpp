// A program's command line: its options, its help, its answer to what it does not understand. CLI11 does the work, in
// command_line.cpp alone: its headers take longer to compile than the rest of a program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// An option of a CommandLine, to say more of it; a view, which the command line must outlive.
class CommandLineOption {
public:
  explicit CommandLineOption(CLI::Option& option) : option_(&option) {}

  /// What the help calls the value, such as N or FILE.
  CommandLineOption& value_name(const std::string& name);
  /// Under which heading the help lists the option.
  CommandLineOption& group(const std::string& heading);
  CommandLineOption& description(const std::string& text);
  CommandLineOption& hidden();
  CommandLineOption& required();
  /// Of several times that the option is given, the last counts.
  CommandLineOption& take_last();
  /// Values may also stand in one argument, with `delimiter` between.
  CommandLineOption& delimiter(char delimiter);
  /// Each time it is given, the option takes one value and no more.
  CommandLineOption& one_value_each();

  CommandLineOption& between(std::uint64_t least, std::uint64_t most);
  CommandLineOption& power_of_two();
  CommandLineOption& one_of(const std::vector<std::string>& values);
  /// `error` says what is wrong with the text of a value: nothing where it is right.
  CommandLineOption& check(const std::function<std::string(const std::string&)>& error);
  CommandLineOption& excludes(const CommandLineOption& other);

  /// After the parsing.
  [[nodiscard]] bool is_given() const;

private:
  CLI::Option* option_;
};

class CommandLine {
public:
  /// Where a value goes, which stays as it is where the option is not given.
  using Value =
      std::variant<std::uint32_t*, std::uint64_t*, double*, std::string*, std::filesystem::path*,
                   std::vector<std::string>*, std::optional<std::uint32_t>*, std::optional<std::filesystem::path>*>;

  /// Has --help from the beginning.
  CommandLine(const std::string& description, const std::string& program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `name`: "--name"; without dashes the option is known by its place. `value` outlives the parsing.
  CommandLineOption option(const std::string& name, Value value, const std::string& description);
  /// Calls `receive` with the text.
  CommandLineOption option(const std::string& name, const std::function<void(const std::string&)>& receive,
                           const std::string& description);
  /// `names`: "--name", "--name,--otherName", or "--name,!--no-name", of which the second makes it false.
  CommandLineOption flag(const std::string& names, bool& value, const std::string& description);
  /// A word that chooses one of the things that the program does.
  void command(const std::string& name, bool& chosen, const std::string& description);

  /// Ends the program after --help, with exit code 1 if the help cannot be written; and with exit code 2 and one line
  /// after a usage error.
  void parse_or_exit(int argc, char** argv);
  /// A usage error that shows only after the parsing.
  [[noreturn]] void refuse(const std::string& why) const;

private:
  [[noreturn]] void print_help_and_exit() const;

  std::unique_ptr<CLI::App> app_;
};
