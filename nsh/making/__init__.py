"""Making a benchmark: questions are filtered and sampled, retold in voices, audited, and rated by people."""
