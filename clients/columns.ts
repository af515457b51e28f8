import stringWidth from 'string-width'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The characters of plain text as people see them, and how many columns of a terminal each takes. */
export function* cellsOf(text: string): Generator<{ text: string; columns: number }> {
  for (const { segment } of graphemes.segment(text))
    yield { text: segment, columns: stringWidth(segment) }
}
