//! Recorded driver calls: format, reader, player.
