"""Columns of a CSV file: what is read, and what is refused with file and row."""

import csv
import gzip

import numpy as np
import pytest

from rmix.datasets.csv_file import CHUNK, SAMPLE, header_of, read_csv
from rmix.errors import DataError


def written(folder, text, name="a.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(folder, text, columns=None, **options):
    with pytest.raises(DataError) as caught:
        read_csv(written(folder, text), columns, **options)
    return str(caught.value).removeprefix(str(folder / "a.csv")).strip()


def test_columns_come_by_name_in_any_order(tmp_path):
    columns = read_csv(written(tmp_path, "a,b,c\n1,2,3\n4,5,6\n"), ["c", "a"])
    assert columns.strings == {"c": ["3", "6"], "a": ["1", "4"]}
    assert len(columns) == 2


def test_without_names_every_column_comes(tmp_path):
    assert read_csv(written(tmp_path, "a,b\n1,2\n")).strings == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfid,t\r\n1,x\r\n2,y\r\n",  # byte-order mark and Windows line ends
        b"id,t\r1,x\r2,y",  # old Mac line ends, none at the end
        b"id,t\n1,x\n2,y\n\n\n",  # blank lines at the end
        b'"id","t"\n"1","x"\n"2","y"\n',
        b"id, t\n1,x\n2,y\n",  # blanks around names
    ],
)
def test_one_table_in_many_spellings(tmp_path, text):
    assert read_csv(written(tmp_path, text)).strings == {"id": ["1", "2"], "t": ["x", "y"]}


def test_quoted_line_breaks_quotes_and_commas_stay_in_their_field(tmp_path):
    columns = read_csv(written(tmp_path, 'id,t\n1,"he said ""no"",\r\nand left"\n2,ü\n'))
    assert columns["t"] == ['he said "no",\r\nand left', "ü"]


def test_a_compressed_file_reads_as_the_plain_one(tmp_path):
    path = written(tmp_path, gzip.compress(b"\xef\xbb\xbfa\n1\n"), "a.csv.gz")
    assert read_csv(path).strings == {"a": ["1"]}


def test_long_files_come_whole_and_rows_are_counted_through_the_chunks(tmp_path):
    n = SAMPLE + 3 * CHUNK + 1
    rows = [f"{i},{'u' * (i % 3)},{i % 2}" for i in range(n)]
    columns = read_csv(written(tmp_path, "\n".join(["id,few,y", *rows])))
    assert columns["id"] == [str(i) for i in range(n)]
    assert columns["few"] == ["u" * (i % 3) for i in range(n)]
    assert len({id(value) for value in columns["few"]}) == 3  # one object for each distinct value
    rows[n - 2] += ",4"
    assert refusal(tmp_path, "\n".join(["id,few,y", *rows])) == f"row {n}: 4 fields, where the header has 3."


def test_a_long_text_is_no_mistake(tmp_path):
    limit = csv.field_size_limit()
    assert len(read_csv(written(tmp_path, f"t\n{'x' * (limit + 1)}\n"))["t"][0]) == limit + 1
    assert csv.field_size_limit() == limit


def test_numbers(tmp_path):
    columns = read_csv(written(tmp_path, "a,b\n1,0.5\n-2,\n3.0,1e2\n"))
    assert columns.integers("a").tolist() == [1, -2, 3]
    assert columns.integers("a").dtype == np.int64
    np.testing.assert_array_equal(columns.numbers("b"), [0.5, np.nan, 100.0])


@pytest.mark.parametrize("value", ["x", "", "0.5", "nan", "inf", "1 2", "9" * 20])
def test_what_is_no_whole_number_is_refused_with_file_and_row(tmp_path, value):
    columns = read_csv(written(tmp_path, f'y,z\n0,"a\nb"\n1,a\n{value},a\n'))
    with pytest.raises(DataError, match=rf"a\.csv row 4: column 'y' must be a whole number, got '{value}'\."):
        columns.integers("y")


def test_values_outside_those_allowed_are_refused(tmp_path):
    columns = read_csv(written(tmp_path, "y\n0\n2\n"))
    with pytest.raises(DataError, match=r"row 3: column 'y' must be one of 0, 1, got '2'"):
        columns.integers("y", allowed=(0, 1))


def test_no_number(tmp_path):
    with pytest.raises(DataError, match=r"row 2: column 'y' must be a number, got '1,5'"):
        read_csv(written(tmp_path, 'y\n"1,5"\n')).numbers("y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: it has no header."),
        ("a,b\n", "has a header and no rows."),
        ("a,b\n\n\n", "has a header and no rows."),
        ("a,b,a\n1,2,3\n", "row 1: column 'a' stands there twice."),
        ("a,b\n1,2\n3\n4,5\n", "row 3: 1 fields, where the header has 2."),
        ("a,b\n1,2\n\n4,5\n", "row 3: it is blank."),
        (
            'a,b\n"1\n1",2\n"3,4\n5,6\n',
            "row 3: not valid CSV (unexpected end of data; a quote in a quoted text is doubled).",
        ),
        ('a\n"say "no""\n', "row 2: not valid CSV (',' expected after '\"'; a quote in a quoted text is doubled)."),
        (b"a,b\n1,2\n1,\xe9\n", "line 3 is not UTF-8 text (byte 0xe9); save it as UTF-8."),
        ("a;b\n1;2\n", "separates its columns by ';'; save it with commas."),
        ("a\tb\n1\t2\n", "separates its columns by '\\t'; save it with commas."),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(tmp_path, text, message):
    assert refusal(tmp_path, text) == message


def test_a_missing_column_is_named_with_those_there_are(tmp_path):
    message = refusal(tmp_path, "id,label\n1,2\n", ["lable"])
    assert message == "has no column 'lable'. Did you mean 'label'? Columns: id, label."


def test_a_value_that_stands_twice_is_named_with_both_rows(tmp_path):
    assert refusal(tmp_path, "id,y\n7,0\n8,0\n7,1\n", unique="id") == "row 4: id '7' stands in row 2 too."


def test_a_missing_file_and_a_file_that_is_not_compressed(tmp_path):
    with pytest.raises(DataError, match=r"There is no file .*b\.csv"):
        read_csv(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"a\.csv\.gz cannot be read \(Not a gzipped file"):
        read_csv(written(tmp_path, "a\n1\n", "a.csv.gz"))
    with pytest.raises(DataError, match=r"a\.csv\.gz cannot be read \(Compressed file ended before"):
        read_csv(written(tmp_path, gzip.compress(b"a\n1\n" * 99)[:-9], "a.csv.gz"))


def test_the_names_of_the_columns_are_read_as_strictly(tmp_path):
    assert header_of(written(tmp_path, b"\xef\xbb\xbf,b\r\n")) == ["", "b"]
    with pytest.raises(DataError, match="line 1 is not UTF-8"):
        header_of(written(tmp_path, b"a\xff\n"))
