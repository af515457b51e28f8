import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ReactNode } from 'react'
import { visible } from '../words/visible.ts'
import styles from './markdown.module.css'

/** Deeper lists and quotes are shown as plain text. */
const deepest = 12

/**
 * Markdown as elements: HTML in it is shown as text, only links to the web and to mail can be followed, and images are links,
 * so that reading a text fetches nothing.
 */
export function MarkdownView({ text }: { text: string }) {
  return <div className={styles.markdown}>{blocksOf(text)}</div>
}

function blocksOf(text: string): ReactNode {
  try {
    return drawn(lexer(text), 0)
  } catch {
    // The parser gives up on quotes that are nested thousands deep.
    return <p className={styles.plain}>{visible(text)}</p>
  }
}

/** Each token with a key: its place in the text. */
function drawn(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  let at = 0
  return (tokens ?? []).map(token => {
    const key = at
    at += token.raw.length + 1
    return <Drawn key={key} token={token as MarkedToken} depth={depth} />
  })
}

type Drawing = { token: MarkedToken; depth: number }

function Drawn({ token, depth }: Drawing): ReactNode {
  if (depth > deepest) return visible(token.raw)
  const inside = 'tokens' in token && token.tokens ? drawn(token.tokens, depth + 1) : null
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p>{inside}</p>
    case 'heading':
      // Under the title of a panel, whatever the levels within the text.
      return <h3>{inside}</h3>
    case 'blockquote':
      return <blockquote>{inside}</blockquote>
    case 'list':
      return <List token={token} depth={depth} />
    case 'list_item':
      return <li>{inside}</li>
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ '
    case 'table':
      return <Table token={token} depth={depth} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'code':
      return <pre>{visible(token.text)}</pre>
    case 'codespan':
      return <code>{visible(token.text)}</code>
    case 'strong':
      return <strong>{inside}</strong>
    case 'em':
      return <em>{inside}</em>
    case 'del':
      return <del>{inside}</del>
    case 'link':
      return <Link href={token.href}>{inside}</Link>
    case 'image':
      return <Link href={token.href}>{visible(token.text || token.href)}</Link>
    case 'text':
      return inside ?? <Mentioning text={visible(token.text)} />
    case 'escape':
      return visible(token.text)
    case 'html':
      return visible(token.raw)
  }
}

function List({ token, depth }: { token: Tokens.List; depth: number }) {
  const items = drawn(token.items, depth + 1)
  if (!token.ordered) return <ul>{items}</ul>
  return <ol start={token.start === '' ? 1 : token.start}>{items}</ol>
}

function Table({ token, depth }: { token: Tokens.Table; depth: number }) {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    numbered(row).map(([nth, cell]) => <Cell key={nth}>{drawn(cell.tokens, depth + 1)}</Cell>)
  return (
    // It scrolls by keyboard where it is wider than the page.
    <section className={styles.wide} tabIndex={0} role="group">
      <table>
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {numbered(token.rows).map(([nth, row]) => (
            <tr key={nth}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const numbered = <T,>(all: readonly T[]): [nth: number, one: T][] =>
  all.map((one, nth) => [nth, one])

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

/** A name as people have them, with an @ that is not within a word, such as an address of mail. */
const mention = /(?<![\w@.])(@[a-z][a-z0-9_.-]{0,62}(?<![.-]))/

function Mentioning({ text }: { text: string }) {
  const parts = text.split(mention)
  return numbered(parts).map(([nth, part]) =>
    nth % 2 === 1 ? (
      <span key={nth} className={styles.mention}>
        {part}
      </span>
    ) : (
      part
    ),
  )
}
