import { useSyncExternalStore } from 'react'
import { createStore } from '../session/store.ts'

export const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

const key = 'forge.language'

const chosen = (): Language => {
  const stored = localStorage.getItem(key)
  const known = languages.find(language => language === stored)
  return known ?? (navigator.language.startsWith('zh') ? 'zh' : 'en')
}

export const language = createStore<Language>(chosen())

const show = () => {
  document.documentElement.lang = language.get() === 'zh' ? 'zh-Hans' : 'en'
}
show()

export function chooseLanguage(next: Language): void {
  localStorage.setItem(key, next)
  language.set(next)
  show()
}

export const useLanguage = (): Language => useSyncExternalStore(language.subscribe, language.get)

/** English and Chinese, side by side, so that neither is forgotten. A function if it contains a number or a name. */
type Word = string | ((...given: never[]) => string)
type Entry<W extends Word = Word> = readonly [en: W, zh: W]
export type Words<E extends Readonly<Record<string, Entry>>> = {
  readonly [K in keyof E]: E[K][0] extends string ? string : E[K][0]
}

/** The words of a page: `const words = wordsOf({ title: ['Runs', '运行'] })`, then `useWords(words).title`. */
export function wordsOf<const E extends Readonly<Record<string, Entry>>>(entries: E) {
  const of = (nth: 0 | 1) =>
    Object.fromEntries(Object.entries(entries).map(([name, pair]) => [name, pair[nth]])) as Words<E>
  return { en: of(0), zh: of(1) }
}

export const useWords = <W>(words: Readonly<Record<Language, W>>): W => words[useLanguage()]
