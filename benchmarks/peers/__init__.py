"""One file per client, each with the same paths.

`send`, `send_acked`, `getmany`, `one_by_one`, `group`, `first_assigned`, `first_subscribed`,
`member`.
"""
