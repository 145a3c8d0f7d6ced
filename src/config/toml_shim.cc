// The only C++ of the project: toml++ parses, and its tree is copied into the plain C tree of toml.h.
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(expr) static_assert(true) // 3.3 asserts that "[:" cannot be; the check behind it reports it
#define TOML_ENABLE_FORMATTERS 1
#include <toml++/toml.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <algorithm>

#include "base/xalloc.h"
#include "config/toml_shim.h"

namespace
{

// For all C++ in the program, which would end it without a word.
[[maybe_unused]] const auto previous_handler = std::set_new_handler([] { out_of_memory(0); });

// What TOML allows and a C tree does not, with its place.
struct refusal {
    toml::source_position at;
    const char *message;
};

char *copy(std::string_view s)
{
    char *p = static_cast<char *>(std::malloc(s.size() + 1));
    if (!p) out_of_memory(0);
    std::memcpy(p, s.data(), s.size());
    p[s.size()] = '\0';
    return p;
}

toml_node *make_children(toml_node *out, size_t n)
{
    out->children = static_cast<toml_node *>(std::calloc(n ? n : 1, sizeof(toml_node)));
    if (!out->children) out_of_memory(0);
    out->n = n;
    return out->children;
}

// Keys become names of columns and stand in messages.
void check_key(const toml::key &key)
{
    for (unsigned char c : key.str())
        if (c < 0x20 || c == 0x7f) throw refusal{key.source().begin, "a key has a control character in it"};
}

void convert(const toml::node &in, toml_node *out);

void convert_table(const toml::table &in, toml_node *out)
{
    out->type = TOML_TABLE;
    toml_node *child = make_children(out, in.size());
    for (auto &&[key, value] : in) {
        check_key(key);
        convert(value, child);
        child->key = copy(key.str());
        child->key_line = static_cast<int>(key.source().begin.line);
        child->key_column = static_cast<int>(key.source().begin.column);
        child++;
    }
    // toml++ sorts keys by name; users read their file from the top.
    std::stable_sort(out->children, out->children + out->n, [](const toml_node &a, const toml_node &b) {
        return a.key_line != b.key_line ? a.key_line < b.key_line : a.key_column < b.key_column;
    });
}

void convert_array(const toml::array &in, toml_node *out)
{
    out->type = TOML_ARRAY;
    toml_node *child = make_children(out, in.size());
    for (auto &&value : in) convert(value, child++);
}

template <typename T> char *as_written(const T &value)
{
    std::ostringstream s;
    s << value;
    return copy(s.str());
}

void convert(const toml::node &in, toml_node *out)
{
    out->line = static_cast<int>(in.source().begin.line);
    out->column = static_cast<int>(in.source().begin.column);
    if (auto t = in.as_table()) {
        convert_table(*t, out);
    } else if (auto a = in.as_array()) {
        convert_array(*a, out);
    } else if (auto s = in.as_string()) {
        out->type = TOML_STRING;
        if (s->get().find('\0') != std::string::npos) throw refusal{in.source().begin, "a string has a NUL character in it"};
        out->string = copy(s->get());
    } else if (auto i = in.as_integer()) {
        out->type = TOML_INTEGER;
        out->integer = i->get();
    } else if (auto f = in.as_floating_point()) {
        out->type = TOML_FLOAT;
        out->number = f->get();
    } else if (auto b = in.as_boolean()) {
        out->type = TOML_BOOLEAN;
        out->boolean = b->get();
    } else {
        out->type = TOML_DATETIME;
        if (auto d = in.as_date())
            out->string = as_written(d->get());
        else if (auto c = in.as_time())
            out->string = as_written(c->get());
        else
            out->string = as_written(in.as_date_time()->get());
    }
}

} // namespace

extern "C" bool toml_shim_parse(const char *text, size_t n, struct toml_node *ret_root, int *ret_line, int *ret_column,
                                char **ret_message)
{
    *ret_line = *ret_column = 0;
    try {
        toml::table root = toml::parse(std::string_view(text, n));
        convert_table(root, ret_root);
        return true;
    } catch (const toml::parse_error &e) {
        *ret_line = static_cast<int>(e.source().begin.line);
        *ret_column = static_cast<int>(e.source().begin.column);
        *ret_message = strdup(std::string(e.description()).c_str());
    } catch (const refusal &e) {
        *ret_line = static_cast<int>(e.at.line);
        *ret_column = static_cast<int>(e.at.column);
        *ret_message = strdup(e.message);
    } catch (const std::exception &e) {
        *ret_message = strdup(e.what());
    }
    return false;
}
