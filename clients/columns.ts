const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** East Asian wide and fullwidth blocks, and emoji: two columns on a terminal. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u

/** The characters of plain text as people see them, and how many columns of a terminal each takes. */
export function* cellsOf(text: string): Generator<{ text: string; columns: number }> {
  for (const { segment } of graphemes.segment(text))
    yield { text: segment, columns: wide.test(segment) ? 2 : 1 }
}
