import { type ReactNode, useState } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import layout from './layout.module.css'

const words = wordsOf({ find: ['Search', '搜索'] })

type Props = {
  label: string
  /** The text of the search in the address. */
  q: string
  onSearch: (q: string | undefined) => void
  /** Further filters. */
  children?: ReactNode
}

/** Searches by Enter or its button; shows the search of the address, also after going back. */
export function SearchForm({ label, q, onSearch, children }: Props) {
  const say = useWords(words)
  const [typed, setTyped] = useState(q)
  const [last, setLast] = useState(q)
  if (last !== q) {
    setLast(q)
    setTyped(q)
  }
  return (
    <form
      role="search"
      className={layout.controls}
      onSubmit={event => {
        event.preventDefault()
        onSearch(typed.trim() || undefined)
      }}
    >
      <TextField
        label={label}
        type="search"
        maxLength={200}
        value={typed}
        onChange={event => setTyped(event.target.value)}
      />
      <Button type="submit">{say.find}</Button>
      {children}
    </form>
  )
}
