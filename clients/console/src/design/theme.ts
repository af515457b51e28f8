import { createStore } from '../session/store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'forge.theme'

export const theme = createStore<Theme>(
  themes.find(known => known === localStorage.getItem(key)) ?? 'system',
)

const show = () => {
  if (theme.get() === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.get()
}
show()

export function chooseTheme(next: Theme): void {
  localStorage.setItem(key, next)
  theme.set(next)
  show()
}
