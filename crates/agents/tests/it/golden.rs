//! Everything under `fixtures/`, read and compared: what the readers make of it is written down in `fixtures/golden/`.

mod otlp;
mod seeds;
