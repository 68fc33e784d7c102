"""How an admin call asks the cluster: routes, retries, outcomes."""
