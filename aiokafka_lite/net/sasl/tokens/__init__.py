"""Providers of tokens for OAUTHBEARER."""
