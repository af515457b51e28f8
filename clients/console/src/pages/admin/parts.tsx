import { Link } from '@tanstack/react-router'
import { MenuLink } from '../../design/menu.tsx'
import { useLanguage } from '../../words/words.ts'
import { sections } from './sections.ts'

/** The parts of the administration, in a menu. */
export function Parts() {
  const language = useLanguage()
  return sections.map(({ name, title }) => (
    <MenuLink key={name}>
      <Link to="/admin/$section" params={{ section: name }}>
        {title[language === 'zh' ? 1 : 0]}
      </Link>
    </MenuLink>
  ))
}
