declare module '*.module.css' {
  const names: Readonly<Record<string, string>>
  // biome-ignore lint/style/noDefaultExport: what vite makes of a style module
  export default names
}
declare module '*.css'
