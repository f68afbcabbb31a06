/* SPDX-License-Identifier: Apache-2.0 */
#include "sniff.h"

struct sniff_row {
	const char *bytes;
	const char *words;
	uint16_t len;
	uint16_t at;
};

#define SNIFF_ROW(offset, literal, text)                         \
	{                                                        \
		(literal), (text), sizeof(literal) - 1, (offset) \
	}

static const struct sniff_row sniff_rows[] = {
	SNIFF_ROW(0,
		  "\x7f"
		  "ELF",
		  "ELF program or library"),
	SNIFF_ROW(0, "MZ", "Windows program"),
	SNIFF_ROW(0, "\xcf\xfa\xed\xfe", "Mach-O program"),
	SNIFF_ROW(0, "\xfe\xed\xfa\xcf", "Mach-O program"),
	SNIFF_ROW(0, "\xca\xfe\xba\xbe", "Java class or Mach-O program"),
	SNIFF_ROW(0, "\0asm", "WebAssembly"),
	SNIFF_ROW(0, "\x89PNG\r\n\x1a\n", "PNG image"),
	SNIFF_ROW(0, "\xff\xd8\xff", "JPEG image"),
	SNIFF_ROW(0, "GIF8", "GIF image"),
	SNIFF_ROW(8, "WEBP", "WebP image"),
	SNIFF_ROW(0, "BM", "BMP image"),
	SNIFF_ROW(0, "II*\0", "TIFF image"),
	SNIFF_ROW(0, "MM\0*", "TIFF image"),
	SNIFF_ROW(0, "\0\0\1\0", "icon"),
	SNIFF_ROW(4, "ftyp", "video or HEIF image"),
	SNIFF_ROW(0, "OggS", "Ogg media"),
	SNIFF_ROW(0, "ID3", "MP3 audio"),
	SNIFF_ROW(8, "WAVE", "WAV audio"),
	SNIFF_ROW(0, "fLaC", "FLAC audio"),
	SNIFF_ROW(0, "\x1a\x45\xdf\xa3", "Matroska video"),
	SNIFF_ROW(0, "%PDF-", "PDF document"),
	SNIFF_ROW(0, "PK\3\4", "zip archive"),
	SNIFF_ROW(0, "PK\5\6", "zip archive"),
	SNIFF_ROW(0, "\x1f\x8b", "gzip archive"),
	SNIFF_ROW(0, "BZh", "bzip2 archive"),
	SNIFF_ROW(0,
		  "\xfd"
		  "7zXZ\0",
		  "xz archive"),
	SNIFF_ROW(0, "\x28\xb5\x2f\xfd", "zstd archive"),
	SNIFF_ROW(0, "7z\xbc\xaf\x27\x1c", "7-zip archive"),
	SNIFF_ROW(0, "Rar!\x1a\7", "rar archive"),
	SNIFF_ROW(257, "ustar", "tar archive"),
	SNIFF_ROW(0, "!<arch>\n", "ar archive"),
	SNIFF_ROW(0, "SQLite format 3\0", "SQLite database"),
	SNIFF_ROW(0, "wOFF", "font"),
	SNIFF_ROW(0, "wOF2", "font"),
	SNIFF_ROW(0, "OTTO", "font"),
	SNIFF_ROW(0, "\0\1\0\0\0", "font"),
	SNIFF_ROW(0, "DIRC", "git index"),
	SNIFF_ROW(0, "PACK", "git pack"),
	SNIFF_ROW(0, "\xfftOc", "git pack index"),
	SNIFF_ROW(0, "BC\xc0\xde", "LLVM bitcode"),
};

const char *sniff(struct span start)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sniff_rows); i++) {
		const struct sniff_row *row = &sniff_rows[i];

		if (start.len >= (size_t)row->at + row->len &&
		    memcmp(start.ptr + row->at, row->bytes, row->len) == 0)
			return row->words;
	}
	return "data";
}
