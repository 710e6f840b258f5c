"""The command line: thin over the public functions. ``rhostar --help`` says what there is."""
