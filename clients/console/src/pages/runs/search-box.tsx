import { useQuery } from '@tanstack/react-query'
import {
  type ChangeEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Option } from '../../design/option.tsx'
import { reading } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { isField } from '../../shell/keys.ts'
import { useWords } from '../../words/words.ts'
import { askedBy, completed, completionsOf, keyInList, wordAt } from './complete.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = {
  q: string
  error: unknown
  onSearch: (q: string) => void
}

/** The search cannot be parsed, which the box itself reports. */
export const isRefused = (error: unknown): error is ApiFailure =>
  error instanceof ApiFailure && error.status === 422

/** The search of the list. Enter searches; the server's message about an invalid search appears below. */
export function SearchBox({ q, error, onSearch }: Props) {
  const say = useWords(words)
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(q)
  const [cursor, setCursor] = useState(0)
  const [at, setAt] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const moveCaret = useCaret(field)
  useEffect(() => setText(q), [q])
  useFocusBySlash(field)
  const offered = useOffered(isOpen ? wordAt(text, cursor).word : null)
  const take = (choice: string) => {
    const next = completed(text, cursor, choice)
    setText(next.text)
    setCursor(next.cursor)
    setAt(-1)
    moveCaret(next.cursor)
    field.current?.focus()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setOpen(false)
    onSearch(text.trim())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = keyInList(event.key, at, offered.length)
    if (to === null) return
    event.preventDefault()
    if (to === 'close') setOpen(false)
    else if (to === 'take') take(offered[at] ?? '')
    else setAt(to)
  }
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    const { value, selectionStart } = event.target
    setText(value)
    setCursor(selectionStart ?? value.length)
    setAt(-1)
    setOpen(true)
    // The field's cross empties it, and searches for nothing.
    if (value === '') onSearch('')
  }
  const fault = isRefused(error) ? error.message : null
  return (
    <form role="search" className={styles.search} onSubmit={submit}>
      <input
        ref={field}
        className={styles.input}
        type="search"
        role="combobox"
        spellCheck={false}
        autoComplete="off"
        aria-label={say.search}
        aria-expanded={offered.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={fault !== null || undefined}
        aria-describedby={fault === null ? undefined : `${id}-fault`}
        placeholder={say.searchHint}
        value={text}
        maxLength={1000}
        onChange={onChange}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <Completions id={id} offered={offered} at={at} onTake={take} />
      <Fault id={`${id}-fault`} text={fault} />
    </form>
  )
}

const Fault = ({ id, text }: { id: string; text: string | null }) =>
  text !== null && (
    <p id={id} className={styles.fault} role="alert">
      {text}
    </p>
  )

type Offered = {
  id: string
  offered: readonly string[]
  at: number
  onTake: (choice: string) => void
}

function Completions({ id, offered, at, onTake }: Offered) {
  const say = useWords(words)
  if (offered.length === 0) return null
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label={say.completions}
      className={styles.completions}
    >
      {offered.map((choice, nth) => (
        <Option
          key={choice}
          id={`${id}-${nth}`}
          isChosen={nth === at}
          className={styles.completion}
          onMouseDown={event => {
            event.preventDefault()
            onTake(choice)
          }}
        >
          {choice}
        </Option>
      ))}
    </div>
  )
}

/** Null: nobody is typing. An empty word has no completions. */
function useOffered(written: string | null): string[] {
  const word = written ?? ''
  const asked = askedBy(word)
  const projects = useQuery({
    ...reading<{ name: string }[]>('/api/projects', { limit: 500 }),
    enabled: written !== null,
  })
  const names = useQuery({
    ...reading<string[]>('/api/runs/names', { ...asked, limit: 10 }),
    enabled: asked !== null,
    staleTime: 30_000,
  })
  const known = (projects.data ?? []).map(({ name }) => name)
  return completionsOf(word, { projects: known, names: names.data ?? [] })
}

/** Moves the caret of a field at once: text typed before the next frame would otherwise land in the wrong place. */
function useCaret(field: { current: HTMLInputElement | null }): (at: number) => void {
  const [caret, setCaret] = useState<{ at: number } | null>(null)
  useLayoutEffect(() => {
    if (caret !== null) field.current?.setSelectionRange(caret.at, caret.at)
  }, [caret, field])
  return at => setCaret({ at })
}

function useFocusBySlash(field: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || isField(event.target)) return
      event.preventDefault()
      field.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [field])
}
