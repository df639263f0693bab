// What a gateway has loaded, in words.

export function loadedText({ plugins, pipelines }: { readonly plugins: number; readonly pipelines: number }): string {
  return `${counted(plugins, "plugin")}, ${counted(pipelines, "pipeline")}`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
