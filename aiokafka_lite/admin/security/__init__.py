"""Calls about users: ACLs, SCRAM, quotas, delegation tokens."""
