import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import BellIcon from 'lucide-react/icons/bell'
import CircleUser from 'lucide-react/icons/circle-user'
import Search from 'lucide-react/icons/search'
import {
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Dialog } from '../design/dialog.tsx'
import { Icon } from '../design/icon.tsx'
import { Menu, MenuItem, MenuLink } from '../design/menu.tsx'
import { Loading } from '../design/notice.tsx'
import { usePart } from '../design/use-part.ts'
import { useLive } from '../live/use-live.ts'
import { Navigation } from '../navigation/navigation.tsx'
import { useLoadAhead } from '../navigation/use-load-ahead.ts'
import { reading } from '../session/api.ts'
import { refused } from '../session/confirmation.ts'
import { newRecoveryCodes } from '../session/recovery-codes.ts'
import { type Me, type Session, session, signOut, standing } from '../session/session.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './frame.module.css'
import { Keyboard } from './keyboard.tsx'
import { LiveMark, ReachNotice } from './marks.tsx'
import { signInKey } from './sign-in-ways.ts'

const words = wordsOf({
  skip: ['Skip to the content', '跳到内容'],
  notifications: ['Notifications', '通知'],
  unread: [(n: number) => `${n} unread`, (n: number) => `${n} 条未读`],
  find: ['Find', '查找'],
  account: ['Account', '账户'],
  settings: ['Settings', '设置'],
  signOut: ['Sign out', '退出登录'],
  ended: ['Sign in again', '请重新登录'],
})

/** The frame of every page: who is signed in, the way to the other pages, and whether all is live. */
export function Frame() {
  const now = useSyncExternalStore(session.subscribe, session.get)
  const before = useLastPerson(now)
  if (now.state === 'starting')
    return (
      <>
        <ReachNotice />
        <Loading />
      </>
    )
  if (now.state === 'signed-out' && before === null)
    return (
      <>
        <ReachNotice />
        <Entrance now={now} />
      </>
    )
  return <Signed now={now} />
}

type SignedOut = Extract<Session, { state: 'signed-out' }>

// People who are signed in need no forms for that.
const loadSignIn = () => import('./sign-in.tsx')

function Entrance({ now: { why, ask } }: { now: SignedOut }) {
  const part = usePart(loadSignIn)
  return part ? <part.SignInPage why={why} ask={ask} /> : <Loading />
}

/** Over the page of a person whose session has ended. */
function Return({ now: { why, ask } }: { now: SignedOut }) {
  const say = useWords(words)
  const part = usePart(loadSignIn)
  return (
    part && (
      <Dialog title={say.ended}>
        <part.SignIn why={why} ask={ask} />
      </Dialog>
    )
  )
}

/** The person signed in on this page, even after their sign-in has expired; another person begins with an empty page. */
function useLastPerson(now: Session): string | null {
  const last = useRef<string | null>(null)
  const queries = useQueryClient()
  const username = now.state === 'signed-in' ? now.username : null
  // Signing out, here or in another tab, clears the screen.
  const hasLeft = now.state === 'signed-out' && (now.ask || now.why === null)
  useEffect(() => {
    if (username === null) return
    if (last.current !== null && last.current !== username) location.reload()
    last.current = username
    void queries.invalidateQueries()
  }, [username, queries])
  useEffect(() => {
    if (!hasLeft || last.current === null) return
    last.current = null
    newRecoveryCodes.set(null)
    standing.set('unknown')
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInKey })
  }, [hasLeft, queries])
  return hasLeft ? null : (username ?? last.current)
}

function Signed({ now }: { now: Session }) {
  const say = useWords(words)
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  // Keyboard and screen-reader users start each page at its content.
  useEffect(() => {
    if (pathname !== undefined) main.current?.focus({ preventScroll: true })
  }, [pathname])
  useLoadAhead(pathname)
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main">
        {say.skip}
      </a>
      <ReachNotice />
      <Header />
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Content />
      </main>
      <Keyboard />
      <Confirmation />
      {now.state === 'signed-out' && <Return now={now} />}
    </div>
  )
}

const loadConfirm = () => import('./confirm.tsx')

function Confirmation() {
  const now = useSyncExternalStore(refused.subscribe, refused.get)
  const part = usePart(now && loadConfirm)
  return now && part && <part.Confirm refused={now} />
}

const RequiredSecondFactor = lazy(async () => {
  const { RequiredSecondFactor: component } = await import('./required-second-factor.tsx')
  return { default: component }
})

const RequiredPassword = lazy(async () => {
  const { RequiredPassword: component } = await import('./required-password.tsx')
  return { default: component }
})

/** The page, unless the person first has to replace a generated password, to set up a second factor, or to keep its recovery codes. */
function Content() {
  const { pathname } = useLocation()
  const me = useQuery(reading<Me>('/api/auth/me'))
  const codes = useSyncExternalStore(newRecoveryCodes.subscribe, newRecoveryCodes.get)
  const now = useSyncExternalStore(standing.subscribe, standing.get)
  const isRequired = me.data?.second_factor.must_set_up === true
  const known = standingOf(me)
  useEffect(() => {
    if (known !== null) standing.set(known)
  }, [known])
  if (me.data?.must_change_password)
    return (
      <Suspense fallback={<Loading />}>
        <RequiredPassword />
      </Suspense>
    )
  // A page may be refused before it is known why: its refusals are not shown.
  if (me.data === undefined && now === 'limited') return <Loading />
  if (!isRequired && (codes === null || pathname === '/settings')) return <Outlet />
  return (
    <Suspense fallback={<Loading />}>
      <RequiredSecondFactor />
    </Suspense>
  )
}

/** Null: not known yet. Full where it cannot be read: the server refuses the rest. */
function standingOf({ data, isError }: { data: Me | undefined; isError: boolean }) {
  if (data === undefined) return isError ? 'full' : null
  return data.must_change_password || data.second_factor.must_set_up ? 'limited' : 'full'
}

function Header() {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  return (
    <header className={styles.header}>
      <Link to="/" className={styles.brand}>
        Forge
      </Link>
      <Navigation role={me.data?.role} />
      <div className={styles.tools}>
        <LiveMark />
        <button
          type="button"
          className={styles.find}
          onClick={() => document.dispatchEvent(new Event('forge:palette'))}
        >
          <Icon of={Search} />
          <span className={styles.label}>
            {say.find} <kbd className={styles.key}>Ctrl K</kbd>
          </span>
        </button>
        <Bell unread={me.data?.unread_notifications ?? 0} />
        <Account username={me.data?.username ?? ''} />
      </div>
    </header>
  )
}

const loadDrawer = () => import('../pages/notifications/drawer.tsx')

/** How many notifications are unread; they open next to the page. */
function Bell({ unread }: { unread: number }) {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const drawer = usePart(isOpen ? loadDrawer : null)
  const queries = useQueryClient()
  const again = () => {
    void queries.invalidateQueries({ queryKey: ['/api/auth/me'] })
    void queries.invalidateQueries({ queryKey: ['/api/notifications'] })
  }
  useLive('notifications', { onEvent: again, onGap: again })
  return (
    <>
      <button type="button" className={styles.bell} onClick={() => setOpen(true)}>
        <Icon of={BellIcon} name={say.notifications} />
        {unread > 0 && (
          <span className={styles.count}>
            {unread > 99 ? '99+' : unread}
            <span className="visually-hidden"> {say.unread(unread)}</span>
          </span>
        )}
      </button>
      {isOpen && drawer && <drawer.Drawer onClose={close} />}
    </>
  )
}

function Account({ username }: { username: string }) {
  const say = useWords(words)
  return (
    <Menu
      label={`${say.account}: ${username}`}
      className={styles.account}
      shown={
        <>
          <Icon of={CircleUser} />
          <span className={styles.label}>{username || say.account}</span>
        </>
      }
    >
      <MenuLink>
        <Link to="/settings">{say.settings}</Link>
      </MenuLink>
      <MenuItem onSelect={() => void signOut()}>{say.signOut}</MenuItem>
    </Menu>
  )
}
