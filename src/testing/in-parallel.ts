// Does something with every item, a few at a time.
export async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    for (;;) {
      const index = next++;
      const item = items[index];
      if (item === undefined) return;
      await act(item, index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
