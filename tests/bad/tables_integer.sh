"$DSE" query :memory: "select * from exp_error('table', 'many')"
