import { Link, useLocation } from '@tanstack/react-router'
import ChevronDown from 'lucide-react/icons/chevron-down'
import MenuIcon from 'lucide-react/icons/menu'
import type { ReactNode } from 'react'
import { Icon } from '../design/icon.tsx'
import { Menu, MenuGroup, MenuLink } from '../design/menu.tsx'
import { usePart } from '../design/use-part.ts'
import { titleOf } from '../pages/all.ts'
import type { Place } from '../pages/slice.ts'
import { type Language, useLanguage, useWords, wordsOf } from '../words/words.ts'
import { type Entry, entriesFor, groupTitleOf, isAt } from './groups.ts'
import styles from './navigation.module.css'

const words = wordsOf({ pages: ['Pages', '页面'] })

/** The ways to all pages: side by side where there is room, otherwise in one menu. */
export function Navigation({ role }: { role: string | undefined }) {
  const say = useWords(words)
  const entries = entriesFor(role)
  return (
    <>
      <nav className={styles.nav} aria-label={say.pages}>
        {entries.map(entry => (
          <Side key={entry.group ?? entry.place.to} entry={entry} />
        ))}
      </nav>
      <span className={styles.pages}>
        <Menu
          label={say.pages}
          align="start"
          className={styles.open}
          shown={<Icon of={MenuIcon} />}
        >
          {entries.map(entry => (
            <Below key={entry.group ?? entry.place.to} entry={entry} />
          ))}
        </Menu>
      </span>
    </>
  )
}

type Listed = Extract<Entry, { group: null }>['place']

const linkTo = (place: Listed, language: Language) => (
  <Link key={place.to} to={place.to} activeOptions={{ exact: place.to === '/' }}>
    {titleOf(place, language)}
  </Link>
)

function Side({ entry }: { entry: Entry }) {
  const language = useLanguage()
  if (entry.group !== null)
    return (
      <Unfolding title={groupTitleOf(entry.group, language)} places={entry.places}>
        <Links places={entry.places} />
      </Unfolding>
    )
  const { place } = entry
  if (!place.parts) return linkTo(place, language)
  return (
    <Unfolding title={titleOf(place, language)} places={[place]}>
      <Parts load={place.parts} />
    </Unfolding>
  )
}

type UnfoldingProps = { title: string; places: readonly Listed[]; children: ReactNode }

function Unfolding({ title, places, children }: UnfoldingProps) {
  const { pathname } = useLocation()
  const isCurrent = places.some(place => isAt(place, pathname))
  return (
    <Menu
      label={title}
      align="start"
      className={isCurrent ? styles.current : styles.group}
      shown={
        <>
          {title}
          <Icon of={ChevronDown} />
        </>
      }
    >
      {children}
    </Menu>
  )
}

function Links({ places }: { places: readonly Listed[] }) {
  const language = useLanguage()
  // The menu makes an item of the link itself.
  return places.map(place => <MenuLink key={place.to}>{linkTo(place, language)}</MenuLink>)
}

function Parts({ load }: { load: NonNullable<Place['parts']> }) {
  const part = usePart(load)
  return part && <part.Parts />
}

/** In the one menu, where the parts of a place stay on its page. */
function Below({ entry }: { entry: Entry }) {
  const language = useLanguage()
  if (entry.group === null) return <Links places={[entry.place]} />
  return (
    <MenuGroup title={groupTitleOf(entry.group, language)}>
      <Links places={entry.places} />
    </MenuGroup>
  )
}
