import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { RunRow } from '../../../../schemas/runs/records.ts'
import { Dialog } from '../design/dialog.tsx'
import { Option } from '../design/option.tsx'
import { State } from '../design/state.tsx'
import { chooseTheme, themes } from '../design/theme.ts'
import { longTitleOf, places } from '../pages/all.ts'
import { reading } from '../session/api.ts'
import { isPassing } from '../session/failure.ts'
import { type Me, signOut } from '../session/session.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { byCloseness } from './closeness.ts'
import styles from './palette.module.css'
import { type OtherThing, useOtherThings } from './palette-others.ts'

const words = wordsOf({
  title: ['Find', '查找'],
  hint: [
    'A run, a page, or a search such as state:failed lr<1e-3',
    '运行、页面，或搜索条件，例如 state:failed lr<1e-3',
  ],
  nothing: ['Nothing found', '没有结果'],
  search: [(q: string) => `All runs with ${q}`, (q: string) => `所有符合 ${q} 的运行`],
  system: ['Theme: follow the system', '主题：跟随系统'],
  light: ['Theme: light', '主题：浅色'],
  dark: ['Theme: dark', '主题：深色'],
  signOut: ['Sign out', '退出登录'],
})

type Item = OtherThing & { state?: string }

/** `onOpen` returns the text typed before this was loaded. */
type Props = { onOpen: () => string; onClose: () => void }

/** Ctrl-K: runs and other things by the search grammar, pages and commands. */
export function Palette({ onOpen, onClose }: Props) {
  const say = useWords(words)
  const [text, setText] = useState('')
  const opened = useRef(onOpen)
  useLayoutEffect(() => {
    const typed = opened.current()
    if (typed !== '') setText(typed)
  }, [])
  const [at, setAt] = useState(0)
  const id = useId()
  const { items, isLooking } = useItems(text)
  /** Enter was pressed on a short id before its run was found. */
  const [isWaiting, setWaiting] = useState(false)
  const chosen = Math.min(at, items.length - 1)
  const act = (item: Item | undefined) => {
    if (!item) return
    onClose()
    item.act()
  }
  useEffect(() => {
    if (!isWaiting || isLooking) return
    setWaiting(false)
    act(items[0])
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && isLooking && at === 0) setWaiting(true)
    else if (event.key === 'Enter') act(items[chosen])
    else if (event.key === 'ArrowDown') setAt(Math.min(items.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={say.title} onClose={onClose}>
      <input
        className={styles.input}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={items[chosen] ? `${id}-${chosen}` : undefined}
        aria-label={say.hint}
        placeholder={say.hint}
        autoFocus
        value={text}
        onChange={event => {
          setText(event.target.value)
          setAt(0)
          setWaiting(false)
        }}
        onKeyDown={onKeyDown}
      />
      {items.length === 0 && <p role="status">{say.nothing}</p>}
      <div id={id} role="listbox" aria-label={say.title} className={styles.list}>
        {items.map((item, nth) => (
          <Option
            key={item.key}
            id={`${id}-${nth}`}
            isChosen={nth === chosen}
            className={styles.item}
            onClick={() => act(item)}
          >
            {item.text}
            {item.state && <State state={item.state} />}
          </Option>
        ))}
      </div>
    </Dialog>
  )
}

const runsShown = 8
const runsRead = 50
/** `vision-1` */
const shortId = /^[a-z0-9][a-z0-9._-]*-\d+$/i

/** `isLooking`: the text is a short id, and its run has not been read yet. */
function useItems(text: string): { items: Item[]; isLooking: boolean } {
  const say = useWords(words)
  const navigate = useNavigate()
  const q = useDeferredValue(text.trim())
  const me = useQuery(reading<Me>('/api/auth/me'))
  const language = useLanguage()
  const found = useQuery({
    ...reading<RunRow[]>('/api/runs', { q, limit: runsRead, sort: '-created_at' }),
    enabled: q !== '',
    placeholderData: before => before,
  })
  // A search finds the newest first, and an old run with exactly this id may not be among those.
  const exact = useQuery({
    ...reading<RunRow>(`/api/runs/${encodeURIComponent(q)}`),
    enabled: shortId.test(q),
    retry: (_, error) => isPassing(error),
  })
  const runs =
    q === '' ? [] : byCloseness(q, [exact.data ?? [], found.data ?? []].flat()).slice(0, runsShown)
  const known: Item[] = [
    ...places
      .filter(({ isForAdmins }) => !isForAdmins || me.data?.role === 'admin')
      .map(place => ({
        key: place.to,
        text: longTitleOf(place, language),
        act: () => void navigate({ to: place.to }),
      })),
    ...themes.map(theme => ({ key: theme, text: say[theme], act: () => chooseTheme(theme) })),
    { key: 'out', text: say.signOut, act: () => void signOut() },
  ]
  const ofRuns = runs.map(run => ({
    key: run.run_id,
    text: run.name === null ? run.short_id : `${run.name} · ${run.short_id}`,
    state: run.state,
    act: () => void navigate({ to: '/runs/$run_id', params: { run_id: run.short_id } }),
  }))
  const ofOthers = useOtherThings(q)
  const isExact = runs[0]?.short_id.toLowerCase() === q.toLowerCase()
  const search = {
    key: 'all',
    text: say.search(q),
    act: () => void navigate({ to: '/runs', search: { q } }),
  }
  const items = [
    ...(isExact ? ofRuns.slice(0, 1) : []),
    ...known.filter(item => item.text.toLowerCase().includes(q.toLowerCase())),
    ...ofRuns.slice(isExact ? 1 : 0),
    ...(q === '' ? [] : [search]),
    ...ofOthers,
  ]
  const isLooking = shortId.test(text.trim()) && (text.trim() !== q || exact.isLoading)
  return { items, isLooking }
}
