"""Everything that touches the model. The daemon imports only `client`, `protocol`, `models` and `build`."""
