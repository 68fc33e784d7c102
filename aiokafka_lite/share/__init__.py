"""The consumer of share groups (KIP-932)."""
