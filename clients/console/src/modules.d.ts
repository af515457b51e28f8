declare module '*.module.css' {
  const names: Readonly<Record<string, string>>
  export default names
}
declare module '*.css'
/** Vite replaces it: true under `npm run dev`. */
interface ImportMeta {
  readonly env: { readonly DEV: boolean }
}
