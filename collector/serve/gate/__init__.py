"""Whether to merge: pass^k over an anchored window, held against a policy, as one decision."""
