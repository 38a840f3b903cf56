! SPDX-License-Identifier: BSD-3-Clause
! Module redist: exchanges of all pairs of axes and of all kinds of elements, plans, boxes, tiles, memory, errors.
program test_redist
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, real128
  use mpi_f08
  use redist
  use checks
  implicit none
  integer :: rank, nranks, i

  type :: particle
    real(real64) :: place
    integer :: number
    character :: kind
  end type particle

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  call test_decompose()
  call test_exchange_sizes()
  do i = 1, 6
    call test_axes(1 + random(9), random(9), random(9))
  end do
  call test_elements()
  call test_plan()
  call test_plan_of_later_arrays()
  call test_memory()
  call test_grids()
  call test_boxes()
  call test_tiles()
  call test_methods()
  call test_errors()
  call finish()

contains

  subroutine test_decompose()
    integer :: part, count, start, next
    integer(int64) :: long_count, long_start
    next = 1
    do part = 0, 4
      call redist_decompose(13, 5, part, count, start)
      call redist_decompose(13_int64, 5, part, long_count, long_start)
      call check(start == next .and. count == merge(3, 2, part < 3), 'parts of 13 elements')
      call check(start == long_start .and. count == long_count, 'both kinds of extents')
      next = start + count
    end do
    call redist_decompose(3000000000_int64, 2, 1, long_count, long_start)
    call check(long_start == 1500000001_int64, 'a part that begins behind 2^31')
  end subroutine test_decompose

  subroutine test_exchange_sizes()
    integer :: a(3), b(3), count, start, code
    integer(int64) :: long_a(3), long_b(3)
    call redist_exchange_sizes(MPI_COMM_WORLD, [4, 9, 11], 1, 3, a, b)
    call redist_exchange_sizes(MPI_COMM_WORLD, [4_int64, 9_int64, 11_int64], 1, 3, long_a, long_b)
    call check(all(a == long_a) .and. all(b == long_b), 'both kinds of extents of an exchange')
    call redist_decompose(11, nranks, rank, count, start)
    call check(all(a == [4, 9, count]), 'the extents of array A')
    call redist_decompose(4, nranks, rank, count, start)
    call check(all(b == [count, 9, 11]), 'the extents of array B')
    call redist_exchange_sizes(MPI_COMM_WORLD, [4, 9, 11], 1, 4, a, b, code)
    call check(code == REDIST_ERR_AXIS, 'an axis that is none')
  end subroutine test_exchange_sizes

  ! The local part of a global array that is split along one axis.
  subroutine local_part(sizes, split, count, start)
    integer, intent(in) :: sizes(:), split
    integer, intent(out) :: count(:), start(:)
    count = sizes
    start = 1
    call redist_decompose(sizes(split), nranks, rank, count(split), start(split))
  end subroutine local_part

  subroutine fill(array, start)
    real(real64), intent(out) :: array(:, :, :)
    integer, intent(in) :: start(3)
    integer :: i, j, k
    do k = 1, size(array, 3)
      do j = 1, size(array, 2)
        do i = 1, size(array, 1)
          array(i, j, k) = value_at(start + [i, j, k] - 1)
        end do
      end do
    end do
  end subroutine fill

  logical function holds(array, start)
    real(real64), intent(in) :: array(:, :, :)
    integer, intent(in) :: start(3)
    real(real64) :: expected(size(array, 1), size(array, 2), size(array, 3))
    call fill(expected, start)
    holds = all(abs(array - expected) <= 0)
  end function holds

  ! Each pair of axes of arrays with three axes.
  subroutine test_axes(n1, n2, n3)
    integer, intent(in) :: n1, n2, n3
    real(real64), allocatable :: a(:, :, :), b(:, :, :)
    integer :: axis_a, axis_b, count_a(3), count_b(3), start_a(3), start_b(3)
    do axis_a = 1, 3
      do axis_b = 1, 3
        if (axis_a == axis_b) cycle
        call local_part([n1, n2, n3], axis_b, count_a, start_a)
        call local_part([n1, n2, n3], axis_a, count_b, start_b)
        allocate (a(count_a(1), count_a(2), count_a(3)), b(count_b(1), count_b(2), count_b(3)))
        call fill(a, start_a)
        b = -1
        call redist_exchange(MPI_COMM_WORLD, a, axis_a, b, axis_b)
        call check(holds(b, start_b), 'exchange of two axes of three')
        deallocate (a, b)
      end do
    end do
  end subroutine test_axes

  ! Elements of many types, 5 x 7 of them, from rows to columns.
  subroutine test_elements()
    integer :: ca(2), cb(2), sa(2), sb(2), i, j
    call local_part([5, 7], 2, ca, sa)
    call local_part([5, 7], 1, cb, sb)
    block
      real(real32) :: a(ca(1), ca(2)), b(cb(1), cb(2))
      a = reshape([((real(10*i + j), i=sa(1), sa(1) + ca(1) - 1), j=sa(2), sa(2) + ca(2) - 1)], shape(a))
      call redist_exchange(MPI_COMM_WORLD, a, 1, b, 2)
      call check(all([((nint(b(i, j)) == 10*(sb(1) + i - 1) + j, i=1, cb(1)), j=1, cb(2))]), 'real(real32)')
    end block
    block
      complex(real128) :: a(ca(1), ca(2)), b(cb(1), cb(2))
      a = reshape([((cmplx(i, j, real128), i=sa(1), sa(1) + ca(1) - 1), j=sa(2), sa(2) + ca(2) - 1)], shape(a))
      call redist_exchange(MPI_COMM_WORLD, a, 1, b, 2)
      call check(all([((nint(real(b(i, j), real64)) == sb(1) + i - 1 .and. nint(real(aimag(b(i, j)), real64)) == j, &
        i=1, cb(1)), j=1, cb(2))]), 'complex(real128)')
    end block
    block
      type(particle) :: a(ca(1), ca(2)), b(cb(1), cb(2))
      a = reshape([((particle(i, 10*i + j, 'p'), i=sa(1), sa(1) + ca(1) - 1), j=sa(2), sa(2) + ca(2) - 1)], shape(a))
      call redist_exchange(MPI_COMM_WORLD, a, 1, b, 2)
      call check(all([((b(i, j)%number == 10*(sb(1) + i - 1) + j .and. b(i, j)%kind == 'p', i=1, cb(1)), j=1, cb(2))]), &
        'a type of its own')
    end block
  end subroutine test_elements

  ! A plan with options, in both directions, at once and in two steps.
  subroutine test_plan()
    real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
    integer :: count_a(3), count_b(3), start_a(3), start_b(3)
    type(redist_plan) :: plan
    type(redist_plan_info) :: info
    type(redist_phases) :: phases
    type(MPI_Comm) :: comm
    character(len=:), allocatable :: method
    integer :: size_of_comm
    call local_part([6, 5, 9], 3, count_a, start_a)
    call local_part([6, 5, 9], 1, count_b, start_b)
    allocate (a(count_a(1), count_a(2), count_a(3)), b(count_b(1), count_b(2), count_b(3)))
    call redist_plan_exchange(MPI_COMM_WORLD, a, 1, b, 3, plan, method='p2p', phases=.true.)
    call fill(a, start_a)
    b = -1
    call redist_plan_execute(plan, REDIST_FORWARD)
    call check(holds(b, start_b), 'plan forward')
    a = -1
    call redist_plan_start(plan, REDIST_BACKWARD)
    call redist_plan_wait(plan)
    call check(holds(a, start_a), 'plan backward in two steps')
    call redist_plan_get_method(plan, method)
    call check(method == 'p2p', 'name of the method')
    call redist_plan_get_info(plan, info)
    call check(info%moved_bytes == size(a)*8, 'bytes that are moved')
    call redist_plan_get_phases(plan, phases)
    call check(phases%executions == 2 .and. phases%total > 0, 'phases')
    call redist_plan_get_comm(plan, comm)
    call MPI_Comm_size(comm, size_of_comm)
    call check(size_of_comm == nranks, 'communicator of a plan')
    call redist_plan_free(plan)
  end subroutine test_plan

  subroutine test_plan_of_later_arrays()
    real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
    integer :: count_a(3), count_b(3), start_a(3), start_b(3)
    type(redist_plan) :: plan
    call local_part([4, 3, 8], 2, count_a, start_a)
    call local_part([4, 3, 8], 3, count_b, start_b)
    allocate (a(count_a(1), count_a(2), count_a(3)), b(count_b(1), count_b(2), count_b(3)))
    call redist_plan_exchange(MPI_COMM_WORLD, a, 3, b, 2, plan, bind_a=REDIST_BIND_AT_EXECUTION, &
      bind_b=REDIST_BIND_AT_EXECUTION, effort=REDIST_ESTIMATE)
    call fill(a, start_a)
    b = -1
    call redist_plan_execute_arrays(plan, REDIST_FORWARD, a, b)
    call check(holds(b, start_b), 'arrays that are bound at execution')
    a = -1
    call redist_plan_start_arrays(plan, REDIST_BACKWARD, a, b)
    call redist_plan_wait(plan)
    call check(holds(a, start_a), 'the same backward')
    call redist_plan_free(plan)
  end subroutine test_plan_of_later_arrays

  subroutine test_memory()
    use, intrinsic :: iso_c_binding
    real(real64), pointer :: a(:, :, :), empty(:, :)
    complex(real32), pointer :: c(:)
    integer(int32), pointer :: n(:, :)
    type(c_ptr) :: memory
    logical :: mappable
    call redist_alloc(MPI_COMM_WORLD, [3, 4, 5 + rank], a, lower=[0, -2, 7])
    call check(all(lbound(a) == [0, -2, 7]) .and. all(ubound(a) == [2, 1, 11 + rank]), 'bounds of an array')
    call check(is_contiguous(a), 'a contiguous array')
    a = 1
    call check(nint(sum(a)) == size(a), 'an array that can be written')
    call redist_alloc(MPI_COMM_WORLD, [7_int64], c)
    c = (1, 2)
    call check(lbound(c, 1) == 1 .and. size(c) == 7, 'a complex array, long extents')
    call redist_alloc(MPI_COMM_WORLD, [2, 2], n)
    n = rank
    call redist_alloc(MPI_COMM_WORLD, [0, 5], empty)
    call check(size(empty) == 0, 'an array without elements')
    call redist_alloc(MPI_COMM_WORLD, 100_c_size_t, memory)
    call check(c_associated(memory), 'memory of some bytes')
    call redist_alloc_info(memory, mappable)
    call check(mappable, 'memory that peers map')
    call redist_free(memory)
    call redist_free(empty)
    call redist_free(n)
    call redist_free(c)
    call redist_free(a)
    call check(.not. associated(a) .and. .not. associated(empty), 'pointers of freed arrays')
  end subroutine test_memory

  ! The first dimension varies fastest.
  subroutine test_grids()
    type(redist_grid) :: grid
    type(redist_box) :: box
    type(MPI_Comm) :: subcomm, subcomms(2), all_ranks
    integer, allocatable :: dims(:), coords(:)
    integer :: n, place, both(2), dim
    call redist_grid_create(MPI_COMM_WORLD, [0, 0], grid)
    call redist_grid_get(grid, dims, coords)
    call check(size(dims) == 2 .and. product(dims) == nranks, 'dimensions of a grid')
    call check(coords(1) + dims(1)*coords(2) == rank, 'coordinates in a grid')
    call redist_grid_comm(grid, all_ranks)
    call redist_subcomm(MPI_COMM_WORLD, subcomms)
    do dim = 1, 2
      call redist_grid_subcomm(grid, dim, subcomm)
      call MPI_Comm_size(subcomm, n)
      call MPI_Comm_rank(subcomm, place)
      call check(n == dims(dim) .and. place == coords(dim), 'subgroup of a grid')
      call MPI_Comm_size(subcomms(dim), n)
      call check(n == dims(dim), 'subgroup without a grid')
      call MPI_Comm_free(subcomms(dim))
    end do
    call redist_grid_box(grid, [4, 9, 11], [2, 3], box)
    call redist_decompose(9, dims(1), coords(1), both(1), both(2))
    call check(all(box%count(1:2) == [4, both(1)]) .and. all(box%start(1:2) == [1, both(2)]), 'box of a grid')
    call redist_grid_free(grid)
    call redist_grid_create(MPI_COMM_WORLD, [nranks, 1], grid, by_node=.true.)
    call redist_grid_get(grid, coords=coords)
    call check(coords(1) == rank, 'a grid by nodes on one node')
    call redist_grid_free(grid)
  end subroutine test_grids

  ! From planes to bricks with a halo of one element.
  subroutine test_boxes()
    real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
    type(redist_grid) :: planes, bricks
    type(redist_box) :: box_a, box_b
    type(redist_plan) :: plan
    call redist_grid_create(MPI_COMM_WORLD, [0], planes)
    call redist_grid_create(MPI_COMM_WORLD, [0, 0], bricks)
    call redist_grid_box(planes, [5, 6, 7], [3], box_a)
    call redist_grid_box(bricks, [5, 6, 7], [1, 2], box_b)
    allocate (a(box_a%count(1), box_a%count(2), box_a%count(3)))
    allocate (b(0:box_b%count(1) + 1, 0:box_b%count(2) + 1, box_b%count(3)))
    box_b%offset(1:2) = 1
    call redist_plan_boxes(MPI_COMM_WORLD, [5, 6, 7], box_a, a, box_b, b, plan)
    call fill(a, int(box_a%start(1:3)))
    b = -1
    call redist_plan_execute(plan, REDIST_FORWARD)
    call check(holds(b(1:box_b%count(1), 1:box_b%count(2), :), int(box_b%start(1:3))), 'a brick')
    call check(all(nint(b(0, :, :)) == -1) .and. all(nint(b(:, 0, :)) == -1), 'its halo')
    a = -1
    call redist_plan_execute(plan, REDIST_BACKWARD)
    call check(holds(a, int(box_a%start(1:3))), 'planes of bricks')
    call redist_plan_free(plan)
    call redist_grid_free(planes)
    call redist_grid_free(bricks)
  end subroutine test_boxes

  ! Tiles that are sections of larger arrays.
  subroutine test_tiles()
    real(real64), allocatable, target :: a(:, :, :), tile(:, :, :)
    real(real64), pointer :: b(:, :, :)
    integer :: count_a(3), count_b(3), start_a(3), start_b(3), k, partitions, code
    type(redist_plan) :: plan
    call local_part([6, 5, 4], 1, count_a, start_a)
    call local_part([6, 5, 4], 2, count_b, start_b)
    allocate (a(count_a(1), count_a(2), count_a(3)))
    call redist_alloc(MPI_COMM_WORLD, count_b, b)
    allocate (tile(2*max(count_a(1), count_b(1)), 5, 2))
    call fill(a, start_a)
    b = -1
    call redist_plan_exchange(MPI_COMM_WORLD, a, 2, b, 1, plan, bind_a=REDIST_BIND_AT_EXECUTION, &
      bind_b=REDIST_BIND_AT_EXECUTION_MAPPED, tiles=REDIST_PUT, partitions=2, partition_axis=3)
    call redist_plan_put_begin(plan, b)
    do k = 1, 4
      tile(2:2*count_a(1):2, :, 2) = a(:, :, k)
      call redist_plan_put(plan, [1_redist_index, 1_redist_index, int(k, redist_index)], &
        tile(2:2*count_a(1):2, :, 2:2))
      call redist_plan_put_progress(plan)
    end do
    call redist_plan_put_arrived(plan, partitions)
    call check(partitions >= 0 .and. partitions <= 2, 'partitions that have arrived')
    call redist_plan_put_end(plan)
    call check(holds(b, start_b), 'tiles that are put')
    call redist_plan_free(plan)

    call redist_plan_exchange(MPI_COMM_WORLD, a, 2, b, 1, plan, bind_a=REDIST_BIND_AT_EXECUTION, &
      bind_b=REDIST_BIND_AT_EXECUTION, tiles=REDIST_GET)
    call redist_plan_get_begin(plan, a)
    b = -1
    do k = 1, 4
      call redist_plan_get(plan, [1_redist_index, 1_redist_index, int(k, redist_index)], &
        tile(2:2*count_b(1):2, 1:count_b(2), 2:2))
      b(:, :, k) = tile(2:2*count_b(1):2, 1:count_b(2), 2)
    end do
    call redist_plan_get(plan, [1_redist_index], tile, code)
    call check(code == REDIST_ERR_ARGUMENT, 'a tile that begins at one index of three')
    call redist_plan_get_end(plan)
    call check(holds(b, start_b), 'tiles that are gotten')
    call redist_plan_free(plan)
    call redist_free(b)
  end subroutine test_tiles

  subroutine test_methods()
    type(redist_model) :: model
    integer :: i, major, minor
    call redist_version(major, minor)
    call check(major == REDIST_VERSION_MAJOR .and. minor == REDIST_VERSION_MINOR, 'version')
    call check(redist_method_exists('alltoallw') .and. len(redist_method_name(0)) == 0, 'names of methods')
    do i = 1, redist_method_count()
      call check(redist_method_exists(redist_method_name(i)) .and. len(redist_method_summary(i)) > 0, 'methods')
    end do
    call check(.not. redist_method_exists('nothing'), 'a method that does not exist')
    call redist_model_fit(MPI_COMM_WORLD, model, method='p2p')
    call check(redist_model_seconds(model, nranks, nranks, 1, 1.0e6_real64) >= 0, 'model of the links')
    call redist_forget_wisdom()
  end subroutine test_methods

  ! The same code on all ranks; nothing was touched.
  subroutine test_errors()
    real(real64) :: a(4, 4), b(4, 4), wide(8, 4)
    real(real32) :: short(4, 4)
    real(real64), pointer :: block(:, :, :)
    type(redist_grid) :: grid
    type(redist_box) :: box
    integer :: code
    b = 3
    call redist_exchange(MPI_COMM_WORLD, a, 3, b, 1, ierror=code)
    call check(code == REDIST_ERR_AXIS, 'an axis that an array does not have')
    call check(index(redist_error_message(), 'axis_a') > 0, 'message about the axis')
    call check(redist_error_name(code) == 'REDIST_ERR_AXIS' .and. len(redist_error_string(code)) > 0, 'name of an error')
    call redist_exchange(MPI_COMM_WORLD, wide(1:8:2, :), 1, b, 2, code)
    call check(code == REDIST_ERR_NULL .or. code == REDIST_ERR_SIZE, 'an array with holes')
    call redist_exchange(MPI_COMM_WORLD, short, 1, b, 2, code)
    call check(code == REDIST_ERR_DATATYPE, 'elements of two sizes')
    call redist_exchange(MPI_COMM_WORLD, a(:, 1), 1, b, 2, code)
    call check(code == REDIST_ERR_ARGUMENT, 'arrays of two ranks')
    call redist_exchange(MPI_COMM_NULL, a, 1, b, 2, code)
    call check(code == REDIST_ERR_COMM, 'no communicator')
    call check(all(nint(b) == 3), 'an array that was not touched')
    call redist_alloc(MPI_COMM_WORLD, [4, 4, merge(4, 2, rank == 0)], block, ierror=code)
    call check(code == REDIST_OK, 'extents that differ')
    call redist_free(block)
    call redist_alloc(MPI_COMM_WORLD, [4, 4, 4], block, lower=spread(0, 1, merge(2, 3, rank == 0)), ierror=code)
    call check(code /= REDIST_OK .and. .not. associated(block), 'bounds that do not fit on one rank')
    if (rank == 0) call check(index(redist_error_message(), 'must have 3 values') > 0, 'message about bounds')
    call redist_alloc(MPI_COMM_WORLD, spread(4, 1, merge(4, 3, rank == 0)), block, ierror=code)
    call check(code /= REDIST_OK .and. .not. associated(block), 'extents that do not fit on one rank')
    call redist_grid_create(MPI_COMM_WORLD, [0, 0], grid)
    call redist_grid_box(grid, [4, 4, 4], [1], box, code)
    call check(code == REDIST_ERR_ARGUMENT .and. index(redist_error_message(), 'axes has') > 0, 'too few axes of a box')
    call redist_grid_free(grid)
  end subroutine test_errors

end program test_redist
