/** A part of a line: within it neither the style, the link nor the mark changes. */
export type Part<P> = P & { href: string | null; isFound: boolean }

type Range = { from: number; to: number }

const address = /\bhttps?:\/\/[^\s<>"'`\u2400-\u241f\u27e8\u27e9]+/giu
const maxAddress = 2048

/** Web addresses in a text. Other schemes, and addresses that begin with a name to mislead (`https://bank@evil`), are text. */
export function linksIn(text: string): (Range & { href: string })[] {
  return [...text.matchAll(address)].flatMap(({ 0: found, index }) => {
    const shown = withoutEnd(found)
    const href = hrefOf(shown)
    return href === null ? [] : [{ from: index, to: index + shown.length, href }]
  })
}

function hrefOf(text: string): string | null {
  if (text.length > maxAddress || !URL.canParse(text)) return null
  const { protocol, username, password, href } = new URL(text)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  return isWeb && username === '' && password === '' ? href : null
}

/** Without the punctuation of the sentence around it; a bracket stays if it was opened in the address. */
function withoutEnd(text: string): string {
  let end = text.length
  for (; end > 0; end--) {
    const last = text[end - 1] ?? ''
    const opening = { ')': '(', ']': '[', '}': '{' }[last]
    if (opening === undefined) {
      if (!/[.,;:!?*_~|\\]/.test(last)) break
    } else {
      const inside = text.slice(0, end)
      if (inside.split(opening).length >= inside.split(last).length) break
    }
  }
  return text.slice(0, end)
}

/** Where a text occurs, in the same case as in the server's search. */
function occurrences(text: string, wanted: string): Range[] {
  const found: Range[] = []
  let from = wanted === '' ? -1 : text.indexOf(wanted)
  while (from >= 0) {
    const to = from + wanted.length
    found.push({ from, to })
    from = text.indexOf(wanted, to)
  }
  return found
}

/** Cuts pieces where links and occurrences of `wanted` begin and end. */
export function partsOf<P extends { at: number; text: string }>(
  pieces: readonly P[],
  wanted: string,
): Part<P>[] {
  const text = pieces.map(piece => piece.text).join('')
  const links = linksIn(text)
  const marks = occurrences(text, wanted)
  const cuts = [...links, ...marks].flatMap(({ from, to }) => [from, to]).sort((a, b) => a - b)
  return pieces.flatMap(piece => {
    const end = piece.at + piece.text.length
    const edges = new Set([piece.at, ...cuts.filter(cut => cut > piece.at && cut < end), end])
    const sorted = [...edges]
    return sorted.slice(0, -1).map((from, nth) => {
      const isIn = (range: Range) => range.from <= from && from < range.to
      return {
        ...piece,
        at: from,
        text: text.slice(from, sorted[nth + 1]),
        href: links.find(isIn)?.href ?? null,
        isFound: marks.some(isIn),
      }
    })
  })
}
