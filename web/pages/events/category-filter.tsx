import { useNavigate } from '@tanstack/react-router';
import { Filter } from '../../parts/filter.tsx';
import { CATEGORIES, type Category } from './category.ts';

export function CategoryFilter({ chosen }: { chosen: Category | undefined }) {
  const navigate = useNavigate();
  return (
    <Filter
      label="Category"
      otherwise="All"
      choices={CATEGORIES}
      chosen={chosen}
      onChoose={(category) => void navigate({ to: '/activity', search: category ? { category } : {} })}
    />
  );
}
