/**
 * A text with symbols for its control characters, and for marks that change the direction of the following text: left
 * as they are, they hide words or change their order. Tabs and line breaks stay.
 */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu, character => {
    if (character === '\t' || character === '\n') return character
    const code = character.codePointAt(0) ?? 0
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\u27e8${code.toString(16)}\u27e9`
  })
