"""Heuristics for a census that read the users and dates of records, and never what they are about."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from carrara.generators.people import MONTHS
from carrara.tasks.carrara._records import Record


def replies(ask: str, names: Mapping[str, str], records: Sequence[Record], classes: int) -> dict[str, str]:
    """Return replies by the name of the heuristic.

    Args:
        ask: The name of the question.
        names: The values of its fields.
        records: The records.
        classes: The number of kinds.
    """
    users = Counter(record.user for record in records)
    ranked = [user for user, _ in users.most_common()]
    match ask:
        case "count":
            own = users[names["user"]]
            return {
                "the records of the user": str(own),
                "an even share of the records of the user": str(round(own / classes)),
                "an even share of all records": str(round(len(records) / len(users) / classes)),
            }
        case "most kinds" | "least kinds":
            kinds = names["kinds"].split(", ")
            return {"the kind named first": kinds[0], "the kind named last": kinds[-1]}
        case "most users" | "least users":
            return {
                "the user with the most records": ranked[0],
                "the user with the fewest records": ranked[-1],
                "the user of the first record": records[0].user,
                "the user of the last record": records[-1].user,
            }
        case "compare":
            return {"the first of two": names["first"], "the second of two": names["second"], "neither": "equal"}
        case "month":
            months = Counter(record.month for record in records)
            running = accumulate(months[month] for month in MONTHS)
            limit = int(names["number"]) * classes
            return {
                "the month with the most records": max(MONTHS, key=months.__getitem__),
                "the month where all records exceed their share": MONTHS[
                    min(sum(number <= limit for number in running), 11)
                ],
                "the middle of the year": MONTHS[5],
            }
        case _:
            several = [user for user, number in users.items() if number > len(records) / len(users)]
            return {
                "all users": ", ".join(ranked),
                "the three users with the most records": ", ".join(ranked[:3]),
                "the user with the most records": ranked[0],
                "the users with more records than others": ", ".join(several) or "none",
                "users of one record after the other": ", ".join(_repeat_users(records)) or "none",
            }


def _repeat_users(records: Sequence[Record]) -> list[str]:
    """Return the users with two records one after the other."""
    return sorted({one.user for one, other in pairwise(records) if one.user == other.user})
