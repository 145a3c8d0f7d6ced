. ./lib
figure 'select 1 as a, 2 as b' '"a"' '"b"'
sed -i 's/"scatter"/"lines"/' f.toml
cat >>f.toml <<'TOML'
reference_sql = """
SELECT value AS a, valu AS b
FROM claim
"""
TOML
"$DSE" plot f.toml
