# SPDX-License-Identifier: Apache-2.0
"""The pieces of template. Beside each kind of thing that works stand uses of it that fail."""

VARIABLES = {
    "s": "Hello World",
    "empty": "",
    "u": "  Grüße, 世界 🐦\n",
    "n": 7,
    "neg": -3,
    "f": 2.5,
    "t": True,
    "nothing": None,
    "l": [3, 1, 2],
    "words": ["pear", "Apple", "fig", "apple"],
    "d": {"b": 1, "a": [1, 2], "C": None, "items": "mine"},
    "people": [
        {"name": "Ann", "age": 31, "tags": ["x", "y"], "home": {"city": "Oslo"}},
        {"name": "bob", "age": 5, "tags": [], "home": {"city": "Bonn"}},
        {"name": "Cy", "age": 31, "tags": ["z"], "home": {"city": "Aarhus"}},
    ],
    "html": "<a href=\"x\">T&C's</a>",
    "lines": "one\n\n  two\r\nthree\n",
    "spaced": " a  b\tc ",
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
}


def prints(*expressions):
    return ["{{ " + e + " }}" for e in expressions]


SNIPPETS = [
    *prints(
        # constants and how they print
        "1", "1.0", "1e3", "1.5e-7", "1e16", "123456789012345678", "1_000", "0x1F", "0o17", "0b101", "1e400", "-0.0",
        "true", "True", "false", "none", "None", "'a'", '"b"', "'a' 'b' \"c\"", r"'tab\there\n'", r"'\x41\u00e9\101\q\\'",
        "'ü世'", "[]", "[1, 'a', none, 2.0, [true]]", "(1,)", "(1, 2)", "()", "1, 2", "{}", "{'a': 1, 2: 'b', none: []}",
        "{'a': 1, 'a': 2}", "['it\\'s', \"say \\\"x\\\"\", 'both \\' \"']", "['\\n\\t\\\\ü\\x07\\u200b🐦']", "{1: 1, true: 2, 1.0: 3}",
        # names and undefined values
        "missing", "missing.x", "missing['x']", "missing + 1", "missing + 'a'", "missing ~ 'a'", "missing == missing",
        "missing == none", "missing == ''", "missing < 1", "not missing", "missing and 1", "missing or 'else'", "missing()",
        "missing | length", "missing | upper", "missing | list", "missing | join(',')", "missing | first", "missing | int",
        "missing | default('x')", "missing | tojson", "missing in [1]", "1 in missing", "[missing]", "missing[1:]", "-missing",
        "d.nope", "d.nope.deeper", "d['nope']", "d.nope is defined", "l[10]", "l[-10]", "s.nope", "s[20]", "nothing.x", "n.x",
        "nothing[0]", "l['a']", "d[[1]]", "missing | trim", "missing | string | length", "missing is iterable", "missing | items | list",
        # arithmetic
        "1 + 2", "1 - 2 - 3", "2 * 3 + 4", "2 + 3 * 4", "(2 + 3) * 4", "7 / 2", "6 / 3", "7 // 2", "-7 // 2", "7 // -2", "7 % 3",
        "-7 % 3", "7 % -3", "-7.5 % 2", "7.5 // -2", "2 ** 10", "2 ** 3 ** 2", "-2 ** 2", "1 / 0", "1 // 0", "1 % 0", "1.0 / 0",
        "0.1 + 0.2", "1e308 * 10", "3 - -2", "--n", "+n", "+true", "true + true", "n + f", "n * 'ab'", "'ab' * -1", "[0] * 3", "'a' + 'b'",
        "[1] + [2]", "(1,) + (2,)", "'a' + 1", "1 + 'a'", "[1] + 'a'", "'a' - 'b'", "none + 1", "l + none", "1 ~ 2", "1 ~ none ~ 'x'",
        "'a' ~ 1 + 2", "2 * 'a' ~ 'b'", "10 - 2 ~ 3", "'%' ~ n", "7 // 2.0", "0.0 * -1", "5 % 2.5", "100000 * 100000",
        # comparisons and logic
        "1 < 2", "1 < 2 < 3", "1 < 3 < 2", "3 > 2 == 2", "1 == 1.0", "1 == true", "'1' == 1", "none == none", "none == false",
        "[1, 2] == [1, 2.0]", "(1, 2) == [1, 2]", "{'a': 1} == {'a': 1.0}", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "1 != 2", "'a' < 'b'",
        "'B' < 'a'", "'Z' < 'ä'", "[1, 2] < [1, 3]", "[1] < [1, 0]", "1 < 'a'", "none < 1", "1 <= 1", "1 >= 2", "[] < []", "(1, 'a') < (1, 'b')",
        "true and false", "1 and 2", "0 or 'x'", "not 1", "not not 1", "not true == false", "1 or 1 / 0", "0 and 1 / 0", "'a' and []",
        "2 in l", "5 in l", "5 not in l", "'ell' in s", "'' in empty", "1 in s", "'a' in d", "none in d", "2 in (1, 2)", "'x' in n", "not 2 in l",
        "true in l", "none in [none]", "[1] in [[1]]", "'b' in d.keys()", "3 in range(5)", "l in [l]",
        # if-else
        "'a' if true else 'b'", "'a' if false else 'b'", "'a' if false", "1 if 0 else 2 if 0 else 3", "('a' if n > 5 else 'b') ~ 'c'",
        "'a' if n > 5 else 1 / 0", "n if n else s", "('x' if false) is defined",
        # parts
        "l[0]", "l[-1]", "l[true]", "l.0", "s[0]", "u[-2]", "d.a", "d['a']", "d.a[1]", "d['items']", "people[1].home.city",
        "people[0]['tags'][-1]", "l[1:]", "l[:-1]", "l[::-1]", "l[::2]", "l[5:]", "l[-2:]", "l[1:1]", "l[::0]", "s[1:4]", "s[::-1]", "u[2:-1]",
        "s[-5:]", "s[:100]", "s[100:]", "s[5:2]", "(1, 2, 3)[1:]", "l[none:2]", "n[1:]", "d[1:]", "range(10)[2:8:3] | list", "l['1']", "l[1.0]", "s[2:][:-2]",
        "'abc'[n]", "l[n:]", "l[1:2].x", "[[1, 2], [3]][0][1]", "{'a': {'b': 3}}.a.b", "{'a': {'b': 3}}['a']['b']", "{1: 'x'}[1]", "{1: 'x'}[true]",
        # filters on texts
        "s | upper", "s | lower", "u | upper | trim", "'ÄÖß' | lower", "'hELLO wORLD-x (y' | title", "'hELLO wORLD' | capitalize", "u | trim", "' xx ' | trim('x ')",
        "'xxaxx' | trim('x')", "s | replace('l', 'L')", "s | replace('l', 'L', 1)", "s | replace('', '-')", "'aaa' | replace('aa', 'b')", "n | replace(7, 8)",
        "html | e", "html | escape", "html | safe", "lines | indent", "lines | indent(2, true)", "lines | indent(2, blank=true)", "'a\nb' | indent('> ')",
        "'' | indent(2, true)", "'a' | indent(first=true)", "s | length", "u | length", "l | length", "d | length", "n | length", "none | length", "s | count",
        "n | string", "none | string", "l | string", "s | list", "n | upper", "none | upper", "l | upper", "s | reverse", "s | wordcountx", "s | title | lower",
        # filters on numbers
        "'42' | int", "'42.9' | int", "'x' | int", "'x' | int(5)", "'1f' | int(base=16)", "'0x1f' | int(0, 16)", "3.9 | int", "-3.9 | int", "true | int", "none | int", "'  12 ' | int",
        "'1_0' | int", "'2.5' | float", "'x' | float", "'x' | float(1.5)", "3 | float", "none | float", "'1e3' | float", "'inf' | float", "-3 | abs", "neg | abs", "-2.5 | abs", "'a' | abs",
        "2.567 | round(2)", "2.5 | round", "3.5 | round", "2.4 | round(method='ceil')", "2.6 | round(0, 'floor')", "7 | round", "2.675 | round(2)", "1.005 | round(1)", "-2.5 | round", "12.0 | round(3)",
        # filters on lists and dicts
        "l | first", "l | last", "[] | first", "[] | last", "empty | first", "s | first", "s | last", "l | sort", "l | sort(reverse=true)", "words | sort", "words | sort(case_sensitive=true)",
        "people | sort(attribute='age') | map(attribute='name') | join(',')", "people | sort(true, attribute='age') | map(attribute='name') | join", "people | sort(attribute='home.city') | map(attribute='name') | list",
        "[1, 'a'] | sort", "words | unique | list", "words | unique(true) | list", "people | unique(attribute='age') | map(attribute='name') | list", "l | sum", "people | sum(attribute='age')", "[] | sum",
        "l | sum(start=10)", "words | sum", "l | min", "l | max", "[] | max", "words | max", "people | max(attribute='age')", "l | join", "l | join('-')", "words | join(', ')", "people | join(' ', attribute='name')",
        "[1, none, true] | join('|')", "s | join('.')", "n | join", "l | reverse | list", "l | reverse | first", "d | list", "d | items | list", "d | dictsort", "d | dictsort(true)", "{'x': 2, 'y': 1} | dictsort(by='value')",
        "{'x': 2, 'y': 1} | dictsort(reverse=true)", "l | items | list", "l | dictsort", "(1, 2) | list", "n | list", "l | map('string') | join('+')", "words | map('upper') | list", "words | map('replace', 'p', 'b') | list",
        "people | map(attribute='home.city') | list", "people | map(attribute='nope') | list", "people | map(attribute='nope', default='?') | list", "l | map | list", "[0, 1, '', 'a'] | select | list", "[0, 1, '', 'a'] | reject | list",
        "l | select('odd') | list", "l | reject('equalto', 1) | list", "[1, 'a', none] | select('string') | list", "people | selectattr('tags') | map(attribute='name') | list", "people | selectattr('age', 'gt', 10) | list | length",
        "people | rejectattr('name', 'in', ['Ann', 'Cy']) | map(attribute='name') | first", "messages | selectattr('role', 'equalto', 'user') | list | tojson", "people | selectattr('home.city', 'eq', 'Oslo') | list | length",
        "l | select('odd') | length", "(l | select('odd'))[0]", "l | select('nosuchtest') | list", "l | map('nosuchfilter') | list", "none | first", "none | default('x')", "none | default('x', true)", "'' | d('x', boolean=true)",
        "l | default", "d | first", "d | last", "range(3) | list", "d.values() | list", "d.items() | list", "d.items() | first", "d.keys() | list | sort",
        # tojson
        "d | tojson", "d | tojson(indent=2)", "l | tojson(indent=4)", "{'k': [], 'e': {}, 'n': [[1, {'a': 2}]]} | tojson(indent=1)", "u | tojson", "u | tojson(ensure_ascii=true)", "html | tojson", "'\\x01\\x7f\\u2028\"\\\\/' | tojson",
        "d | tojson(separators=(',', ':'))", "d | tojson(indent=2, separators=(', ', ' = '))", "{'b': 1, 'a': 2} | tojson(sort_keys=true)", "{1: 2, none: 3, true: 4, 1.5: 5} | tojson", "[1.0, 1e100, 0.1, -0.0] | tojson",
        "true | tojson", "none | tojson", "(1, 2) | tojson", "'x' | tojson(indent='--')", "[1, [2]] | tojson(indent='--')", "range(2) | tojson", "people | map(attribute='name') | tojson", "d | tojson(none, 2)", "[] | tojson(indent=2)", "d.items() | tojson",
        "'\\x7f' | tojson(true)", "[1] | tojson(indent=0)", "people[0] | tojson | length",
        # tests
        "n is defined", "missing is undefined", "none is none", "n is not none", "s is string", "n is string", "n is number", "f is number", "t is number", "n is integer", "t is integer", "f is float", "t is boolean", "t is true", "1 is true",
        "false is false", "d is mapping", "l is mapping", "l is sequence", "s is sequence", "d is sequence", "n is sequence", "missing is sequence", "l is iterable", "n is iterable", "s is iterable", "3 is odd", "4 is even", "6 is divisibleby 3",
        "6 is divisibleby(4)", "n is eq 7", "n is ne(7)", "n is lt 8", "n is ge(8)", "n is in l", "3 is in(l)", "'a' is lower", "'A1' is upper", "'1' is lower", "n is sameas n", "1 is sameas true", "none is sameas none", "raise_exception is callable",
        "s is callable", "'upper' is filter", "'nosuch' is filter", "'odd' is test", "n is nosuchtest", "n is defined and s is string", "not n is defined", "n is defined == true", "l | length is eq 3", "-3 is odd", "'x' is odd", "strftime_now is defined",
        "d.a is defined and d.a is iterable and d.a is not string", "n is not defined or t", "none is defined", "'' is string", "t is not false", "(1, 2) is sequence", "range(3) is sequence", "d.items() is sequence", "d.items() is iterable",
        # methods of texts
        "s.upper()", "s.lower().title()", "u.strip()", "u.lstrip()", "u.rstrip() ~ '|'", "'xxaxx'.strip('x')", "'abcba'.lstrip('ab')", "s.split()", "spaced.split()", "spaced.split(' ')", "'a,b,,c'.split(',')", "'a,b,,c'.split(',', 1)", "spaced.split(none, 1)",
        "spaced.split(maxsplit=1)", "'a,b,c'.rsplit(',', 1)", "spaced.rsplit(none, 1)", "''.split()", "''.split(',')", "'a'.split('')", "lines.splitlines()", "lines.splitlines(true)", "'a=b=c'.partition('=')", "'a=b=c'.rpartition('=')", "'abc'.partition('x')",
        "'abc'.rpartition('x')", "s.startswith('Hell')", "s.startswith(('x', 'He'))", "s.endswith('ld')", "s.endswith('H', 0, 1)", "s.startswith('W', 6)", "s.startswith(1)", "s.find('o')", "s.rfind('o')", "u.find('世')", "s.find('o', 5)", "s.find('zz')",
        "s.index('zz')", "s.index('W')", "s.count('l')", "s.count('')", "s.replace('o', '0')", "s.replace('o', '0', 1)", "s.replace(1, 2)", "','.join(words)", "','.join(l)", "','.join(s)", "s.capitalize()", "s.swapcase()", "'they\\'re bill\\'s'.title()",
        "'12'.isdigit()", "'1a'.isdigit()", "''.isalpha()", "'äb'.isalpha()", "' \\t'.isspace()", "'a1'.isalnum()", "'AB'.isupper()", "'ab1'.islower()", "'7'.zfill(3)", "'-7'.zfill(4)", "'ab'.ljust(4, '.')", "'ab'.rjust(4)", "'ab'.center(5, '*')", "'abc'.center(6, '*')",
        "'TestHook'.removeprefix('Test')", "'MiscTests'.removesuffix('Tests')", "s.nosuch()", "s.strip(1)", "s.upper(1)", "n.upper()", "none.strip()", "'a\\x1cb\\u2028c'.splitlines()", "'\\u3000a\\xa0'.strip()", "'ab'.center(2)", "'ßa ﬁx ŉ ǆ ᾳ'.title()", "'ßa ﬁx'.upper()", "'ﬁX ß'.capitalize()", "'İI'.lower()", "'ß'.isupper()", "'ß'.islower()", "'ßX'.swapcase()", "'ß ﬁ' | title", "'ß ﬁ' | capitalize", "'a'.zfill(0)",
        # methods of containers
        "d.get('a')", "d.get('zz')", "d.get('zz', 5)", "d.keys() | list", "d.values() | list | length", "l.index(2)", "l.index(9)", "words.count('fig')", "(1, 1, 2).count(1)", "l.append(4)", "d.update({})", "l.pop()", "d.get([1])", "d.copy().b", "n.get('x')", "l.keys()",
        # functions
        "range(4) | list", "range(2, 8, 3) | list", "range(5, 0, -2) | list", "range(0) | list", "range(3) | length", "range(1, 2, 0)", "range('a')", "range(200000) | length", "dict(a=1, b='x')", "dict({'a': 1}, b=2)", "dict([('a', 1)])", "namespace(a=1).a", "namespace({'k': 'v'}).k",
        "namespace(a=1).b is defined", "strftime_now('%Y-%m-%d')", "strftime_now('%d %b %Y')", "strftime_now('%A, %B %e, %I:%M:%S %p')", "strftime_now('%-d/%-m/%y %H%% %j %u %w')", "strftime_now('%F %T %D %R')", "raise_exception('no')", "raise_exception()", "nosuchfunction(1)", "strftime_now(1)",
        "dict(1)",
    ),
    # precedence of filters, tests and unary operators
    *prints("-1 | abs", "- (1 | abs)", "2 ** -1 | abs", "n + '3' | int", "'a' ~ 'b' | upper", "not t | string", "l | length + 1", "s | upper == 'HELLO WORLD'", "(s ~ '!') | upper | length > 3", "1 + 1 is odd", "[1, 2] | first is odd", "'x' if n is odd and n > 5 else 'y'",
            "n if n is defined else 0", "d.a | length", "-l[0]", "-n ** 2", "n is odd is odd", "n is odd or 1 / 0", "{'a': 1}['a'] | string ~ 'x'", "(1 if true else 2) + 3", "l[0] if l | length > 0 else none", "l | map('string') | map('length') | sum"),
    # white space
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "a\n  {% if true %}\n  b\n  {% endif %}\nc", "a {% if true %} b {% endif %} c", "a\n  {%- if true -%}\n  b\n  {%- endif -%}\n c", "a\n  {%+ if true %}\n  b{% endif +%}\nc", "  {{ 1 }}  \n  {{ 2 }}",
    "  {{- 1 -}}  \n  {{- 2 }}", "x {#- note -#} y", "x\n  {# note #}\ny", "x {# note #}\ny", "{# a\nb #}z", "{% if true %}a{% endif %}\n\n\n", "a\n", "a\n\n", "\n{% if true %}\n\na\n\n{% endif %}\n\n", "a\r\nb\rc", "{%- if true %}\r\na\r\n{%- endif %}", "{% set x = 1 %}\n{% set y = 2 %}\n{{ x + y }}",
    "a\t{% if true %}\tb{% endif %}\t", "x{{ '  ' }}y{{- '  ' -}} z", "{% raw %}{{ x }}{% y %}{# z #}{% endraw %}", "a {%- raw -%}  b  {%- endraw -%} c", "  {% raw %}\n  b\n  {% endraw %}\n c", "{{ '{{' }}{{ '%}' }}", "{{ {'a': {'b': 1}} }}", "{{ {'a': {'b': 1}}['a'] }}", "{{'a'}}{{-'b'-}}c", "{% if t%}x{%endif%}", "{ {1} } {%%", "{{ 1 }", "{% if %}", "{# never ends",
    "{{ 'never ends }}", "{{ [1 }}", "{{ (1] }}", "{{ ) }}", "{{ }}", "{{ 1 2 }}", "{{ a b }}", "{{ $ }}", "{{ 'a' | }}", "{{ .a }}", "{% nosuch %}", "{% endif %}", "{% if t %}x", "{% for x in l %}x{% endif %}", "}} %} #}", "{% if t: %}x{% endif %}", "a\x0b{% if true %}b{% endif %}", "a\u2003{%- if true %}b{% endif %}", "{%- set a = 1 -%}  \n\n  {{ a }}", "a{%- if t %}\n b{% else -%}\n c{% endif %}", "{{ l[0]-}}  x", "{{ 3-1 }}",
    "{% raw %}a{% endraw %}\n{%- raw %} b {% endraw -%}\n c", "{{ 1 -}}\n\n{{- 2 }}", "{% if t -%} a {%- endif +%} b", "{#- a #}\n  {#+ b #}\nc", "{% set x -%} a {%- endset %}[{{ x }}]",
    # if
    "{% if n > 5 %}big{% elif n > 3 %}mid{% else %}small{% endif %}", "{% if n > 10 %}a{% elif n == 7 %}b{% endif %}", "{% if none %}a{% else %}b{% endif %}", "{% if 1, 2 %}a{% endif %}", "{% if missing %}a{% endif %}b", "{% if 1 / 0 %}{% endif %}", "{% if false %}{{ 1 / 0 }}{% endif %}ok",
    "{% if t %}{% set q = 1 %}{% endif %}{{ q }}", "{% if 'a' if t else '' %}y{% endif %}", "{% if t %}{% if not t %}a{% else %}b{% endif %}{% endif %}",
    # for
    "{% for x in l %}{{ x }},{% endfor %}", "{% for x in [] %}a{% else %}none{% endfor %}", "{% for x in l if x > 1 %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %}", "{% for x in l if x > 9 %}a{% else %}b{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}", "{% for c in 'añb' %}[{{ c }}]{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}", "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}", "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}",
    "{% for x in l %}{% for y in l %}{{ loop.depth }}{{ loop.index }}{% endfor %}{{ loop.index }}|{% endfor %}", "{% set x = 0 %}{% for i in l %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "{% set ns = namespace(x=0) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}", "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% else %}e{% endfor %}",
    "{% for x in none %}{% endfor %}", "{% for x in 5 %}{% endfor %}", "{% for x in missing %}a{% else %}b{% endfor %}", "{% for a, b in [(1, 2), (3, 4)] %}{{ a }}-{{ b }} {% endfor %}", "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}", "{% for x in l | sort %}{{ x }}{% endfor %}", "{% for x in l[::-1] %}{{ x }}{% endfor %}", "{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for x in range(3) %}{% for y in range(x) %}{{ y }}{% endfor %};{% endfor %}", "{{ loop }}", "{% for x in l %}{% endfor %}{{ x }}", "{% for m in messages %}{{ m.role }}: {{ m['content'] }}\n{% endfor %}", "{% for m in messages %}{{ loop.last and m.role == 'assistant' }} {% endfor %}", "{% break %}", "{% for x in l %}{% set loop = 1 %}{% endfor %}", "{% for x in l %}{% for y in [] %}{% else %}{{ x }}{% endfor %}{% endfor %}",
    "{% for x in l if not loop %}{{ x }}{% endfor %}", "{% for p in people %}{{ p.name }}{% if not loop.last %}, {% endif %}{% endfor %}", "{% for x in l | select('odd') %}{{ loop.index }}/{{ loop.length }}{{ x }}{% endfor %}", "{% set g = l | select('odd') %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% endfor %}.", "{% for x in l %}{% if loop.index0 == 1 %}{{ x }}{% break %}{% endif %}{% endfor %}", "{% for true in l %}{% endfor %}",
    "{% for x in l %}{{ loop.nosuch }}{% endfor %}", "{% set ns = namespace() %}{% for x in l %}{% set ns.l = loop %}{% endfor %}{{ ns.l.index }}{{ ns.l.last }}", "{% for x in l %}{{ loop.changed(loop) }}{% endfor %}", "{% set ns = namespace(a=1) %}{% set ns.me = ns %}{{ ns.me.me.a }}", "{% for i in range(3) %}{{ i }}{% endfor %}{{ i is defined }}",
    # set
    "{% set x = 1 %}{{ x }}", "{% set x, y = 1, 2 %}{{ x }}{{ y }}", "{% set x, y = [1] %}", "{% set x = 1, 2 %}{{ x }}", "{% set x %}a{{ 1 }}b{% endset %}{{ x | upper }}", "{% set x | upper | replace('A', 'o') %}ab{% endset %}{{ x }}", "{% set s = s ~ '!' %}{{ s }}", "{% set d.b = 5 %}", "{% set ns = namespace(a=1) %}{% set ns.b = ns.a + 1 %}{{ ns.b }}{{ ns.c }}", "{% set nope.b = 5 %}", "{% set x = y = 1 %}",
    "{% set x = 'a' if t else 'b' %}{{ x }}", "{% set ns = namespace() %}{% set ns.l = [] %}{% for i in l %}{% set ns.l = ns.l + [i * 2] %}{% endfor %}{{ ns.l }}", "{% set x = {'a': 1} %}{{ x.a }}", "{% set true = 1 %}", "{% set x = l | first %}{% set x = x + 1 %}{{ x }}", "{% set ns = namespace(found=false) %}{% for m in messages %}{% if m.role == 'assistant' and not ns.found %}{% set ns.found = true %}{{ loop.index }}{% endif %}{% endfor %}{{ ns.found }}",
    "{% set a %}{% set b = 1 %}{{ b }}{% endset %}{{ a }}{{ b }}", "{% set x = missing %}{{ x is defined }}{{ x }}", "{% with a = 1, b = n %}{{ a + b }}{% endwith %}{{ a }}", "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}", "{% filter upper %}ab{{ s }}{% endfilter %}", "{% filter replace('a', 'b') | trim %} aa {% endfilter %}!", "{% generation %}x{{ n }}{% set q = 1 %}{% endgeneration %}{{ q }}y",
    # macros
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(b=5, a=4) }}", "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m() }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}", "{% macro m(a, b=a ~ '!') %}{{ b }}{% endmacro %}{{ m('x') }}", "{% macro m(a=1, b) %}{% endmacro %}",
    "{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(4) }}", "{{ m(2) }}{% macro m(a) %}{{ a }}{% endmacro %}", "{% macro m() %}{{ late }}{% endmacro %}{% set late = 'L' %}{{ m() }}", "{% macro m() %}{{ s }}{% set s = 1 %}{{ s }}{% endmacro %}{{ m() }}{{ s }}", "{% macro m(x) %}a{{ x }}b{% endmacro %}{{ m('-') | upper }}{{ m(1) | length }}{{ m('z') ~ 'q' }}",
    "{% macro m(x) %}{{ x }}{% endmacro %}{% for i in l %}{{ m(i) }}{{ m(loop.index) }}{% endfor %}", "{% macro m() %}{{ i }}{% endmacro %}{% for i in l %}{{ m() }}{% endfor %}.", "{% macro a() %}A{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}", "{% macro m(t) %}{% if t is mapping %}{ {% for k, v in t.items() %}{{ k }}:{{ m(v) }} {% endfor %}}{% else %}{{ t }}{% endif %}{% endmacro %}{{ m({'a': {'b': 1}, 'c': 2}) }}", "{% if t %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% macro m() %}{% endmacro %}{{ m is defined }}{{ m is callable }}",
    "{%- macro m(x) -%}\n  {{- x -}}\n{%- endmacro -%}\n{{ m(1) }}", "{% macro m(a, b='x') %}{{ a ~ b }}{% endmacro %}{{ [m(1), m(2)] | join('|') }}", "{% macro m() %}{% set ns.k = ns.k + 1 %}{% endmacro %}{% set ns = namespace(k=0) %}{{ m() }}{{ m() }}{{ ns.k }}",
]
