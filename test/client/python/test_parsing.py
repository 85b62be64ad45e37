"""What needs no service: events at every cut, and folding."""

import itertools
import unittest

from assistant_platform_client import Event, EventParser, fold_messages

TEXT = ': hello\r\n\r\nevent: data\r\nid: 1-0\r\ndata: {"a":"ä😀"}\r\n\r\nevent: end\ndata:\n\ndata: a\rdata: b\r\rdata: cut off\n'
EVENTS = [Event("data", "1-0", '{"a":"ä😀"}'), Event("end", None, ""), Event("message", None, "a\nb")]


def message(content, kind="AIMessage", name="1"):
    return {"type": kind, "data": {"id": name, "content": content}}


class Parsing(unittest.TestCase):
    def test_events_come_out_whole_wherever_the_stream_is_cut(self):
        data = TEXT.encode()
        for first, second in itertools.combinations(range(len(data) + 1), 2):
            parser = EventParser()
            pieces = (data[:first], data[first:second], data[second:])
            self.assertEqual([event for piece in pieces for event in parser.feed(piece)], EVENTS)

    def test_an_event_that_is_too_long_ends_the_stream(self):
        for piece in (b"data: " + b"x" * 60, b"data: x\n" * 10):
            with self.assertRaisesRegex(ValueError, "too long"):
                parser = EventParser(max_characters=1000)
                for _ in range(100):
                    parser.feed(piece)

    def test_whole_messages_replace_and_deltas_add(self):
        first = fold_messages([], [message("The"), message("other", name="2")])
        second = fold_messages(first, [message(" harbour", "AIMessageDelta"), message("lost", "AIMessageDelta", "3")])
        self.assertEqual(second, [message("The harbour"), message("other", name="2")])
        self.assertEqual(first[0], message("The"))
        self.assertEqual(fold_messages(second, [message("New")])[0], message("New"))


if __name__ == "__main__":
    unittest.main()
