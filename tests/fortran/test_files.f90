! SPDX-License-Identifier: BSD-3-Clause
! Modules redist and fftnd: arrays of all kinds in raw files and checkpoints, and what the files have; errors.
program test_files
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use mpi_f08
  use fftnd
  use checks
  implicit none
  character(len=:), allocatable :: folder
  integer :: rank, nranks, i, answer
  logical :: has_checkpoints ! whether this build has xxHash
  type(redist_checkpoint_info) :: contents

  ! 3-d arrays in blocks, split along one axis; u(1, 1, 1) is the first element of this rank's part.
  type :: part
    integer :: sizes(3), n(3), first(3)
    type(redist_box) :: box
    real(real64), pointer :: u(:, :, :)
  end type part

  type :: state
    real(real64) :: time
    integer(int64) :: step
  end type state

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  call start_random()
  call make_folder()
  do i = 1, 8
    call test_raw([random(7), random(7), random(7)])
  end do
  call test_types()
  call test_selection()
  call test_background()
  call redist_checkpoint_get_info(MPI_COMM_WORLD, folder//'/none', contents, ierror=answer)
  has_checkpoints = answer /= REDIST_ERR_METHOD
  if (has_checkpoints) then
    call check(answer == REDIST_ERR_FILE, 'no checkpoint')
    call test_checkpoint()
    call test_conversion()
    call test_checkpoint_errors()
  else if (rank == 0) then
    print '(a)', 'checkpoints are left out: no xxHash in this build'
  end if
  do i = 1, 4
    call test_transform(batch=random(2), batch_position=merge(FFTND_BATCH_FIRST, FFTND_BATCH_LAST, random(2) == 1), &
      ghosts=mod(i, 2))
  end do
  call test_padding()
  call test_errors()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call execute_command_line('rm -r '//folder)
  call finish()

contains

  subroutine make_folder()
    character(len=200) :: parent
    integer :: status, clock
    call get_environment_variable('TMPDIR', parent, status=status)
    if (status /= 0) parent = '/tmp'
    call system_clock(clock)
    write (parent(len_trim(parent) + 1:), '(a, i0, a, i0)') '/redist-fortran-', clock, '-', random(100000)
    call MPI_Bcast(parent, len(parent), MPI_CHARACTER, 0, MPI_COMM_WORLD)
    folder = trim(parent)
    if (rank == 0) call execute_command_line('mkdir '//folder)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine make_folder

  function make_part(sizes, axis, ghosts) result(p)
    integer, intent(in) :: sizes(3), axis, ghosts
    type(part) :: p
    type(redist_grid) :: grid
    call redist_grid_create(MPI_COMM_WORLD, [0], grid)
    call redist_grid_box(grid, sizes, [axis], p%box)
    call redist_grid_free(grid)
    p%sizes = sizes
    p%n = int(p%box%count(1:3))
    p%first = int(p%box%start(1:3))
    p%box%offset(1:3) = [ghosts, 0, ghosts]
    call redist_alloc(MPI_COMM_WORLD, p%n + [2*ghosts, 0, ghosts], p%u, lower=1 - [ghosts, 0, ghosts])
    p%u = -1
  end function make_part

  ! Whether elements are those of their places in the global array; or sets them.
  logical function holds(p, sets)
    type(part), intent(in) :: p
    logical, intent(in) :: sets
    integer :: i, j, k
    holds = .true.
    do k = 1, p%n(3)
      do j = 1, p%n(2)
        do i = 1, p%n(1)
          if (sets) p%u(i, j, k) = value_at(p%first - 1 + [i, j, k])
          holds = holds .and. abs(p%u(i, j, k) - value_at(p%first - 1 + [i, j, k])) <= 0
        end do
      end do
    end do
    holds = holds .and. count(p%u >= 0) == product(p%n) ! ghosts are unchanged
  end function holds

  ! The file has the first axis contiguous.
  logical function file_holds(path, sizes, offset)
    character(len=*), intent(in) :: path
    integer, intent(in) :: sizes(3), offset
    real(real64), allocatable :: values(:, :, :)
    integer :: unit, i, j, k, status
    allocate (values(sizes(1), sizes(2), sizes(3)))
    open (newunit=unit, file=path, access='stream', form='unformatted', action='read')
    read (unit, pos=offset + 1, iostat=status) values
    close (unit)
    file_holds = status == 0
    do k = 1, sizes(3)
      do j = 1, sizes(2)
        do i = 1, sizes(1)
          file_holds = file_holds .and. abs(values(i, j, k) - value_at([i, j, k])) <= 0
        end do
      end do
    end do
  end function file_holds

  subroutine test_raw(sizes)
    integer, intent(in) :: sizes(3)
    type(part) :: a, b
    type(redist_field) :: field
    type(redist_box) :: box
    real(real64), allocatable, target :: flat(:)
    a = make_part(sizes, random(3), random(3) - 1)
    b = make_part(sizes, random(3), random(3) - 1)
    call check(holds(a, .true.), 'values')
    call redist_field_set_box(field, sizes, a%box, a%u)
    call redist_write(MPI_COMM_WORLD, folder//'/raw ', [field], offset=24_redist_index, flush=.true.)
    if (rank == 0) call check(file_holds(folder//'/raw', sizes, 24), 'a raw file')
    ! a section is the array without its ghosts
    box = b%box
    box%offset = 0
    call redist_field_set_box(field, int(sizes, int64), box, b%u(1:b%n(1), 1:b%n(2), 1:b%n(3)))
    call redist_read(MPI_COMM_WORLD, folder//'/raw', [field], method='mpi', offset=24_redist_index)
    call check(holds(b, .false.), 'a raw file, read into a section')
    ! an array with one axis has the extents of the box
    allocate (flat(product(b%n + [1, 0, 2])), source=-2d0)
    box%extent(1:3) = b%n + [1, 0, 2]
    call redist_field_set_box(field, sizes, box, flat)
    call redist_read(MPI_COMM_WORLD, folder//'/raw', [field], offset=24_redist_index)
    call check(has_part(reshape(flat, b%n + [1, 0, 2]), b), 'a raw file, read into an array of one axis')
    call redist_free(a%u)
    call redist_free(b%u)
  end subroutine test_raw

  ! Whether the first elements of an array are those of this rank's part.
  logical function has_part(values, b)
    real(real64), intent(in) :: values(:, :, :)
    type(part), intent(in) :: b
    has_part = all(abs(values(1:b%n(1), 1:b%n(2), 1:b%n(3)) - b%u(1:b%n(1), 1:b%n(2), 1:b%n(3))) <= 0)
  end function has_part

  ! Several fields of other types and numbers of axes, which rank 0 reads back alone.
  subroutine test_types()
    integer(int8), target :: bytes(3), bytes_again(3)
    complex(real32), target :: pairs(2, 2), pairs_again(2, 2)
    type(state), target :: states(4), states_again(4)
    type(state), target :: section(3)
    type(state), pointer :: every_second(:)
    type(redist_field) :: fields(3)
    integer :: k
    bytes = [1_int8, 2_int8, 3_int8]
    pairs = reshape([((1, 2)*k, k=1, 4)], [2, 2])
    states = [(state(k, -k), k=1, 4)]
    bytes_again = 0
    pairs_again = 0
    states_again = state(0, 0)
    section = state(0, 0)
    call set(fields(1), [3], bytes)
    call set(fields(2), [2, 2], pairs)
    call set(fields(3), [4], states)
    call redist_write(MPI_COMM_WORLD, folder//'/types', fields, writers_per_node=1, buffer_bytes=64_c_size_t)
    call set(fields(1), [3], bytes_again)
    call set(fields(2), [2, 2], pairs_again)
    call set(fields(3), [4], states_again)
    call redist_read(MPI_COMM_WORLD, folder//'/types', fields)
    call set(fields(3), [2], states(4:1:-2))
    call redist_write(MPI_COMM_WORLD, folder//'/section', fields(3:3))
    every_second => section(1:3:2)
    call set(fields(3), [2], every_second)
    call redist_read(MPI_COMM_WORLD, folder//'/section', fields(3:3))
    if (rank /= 0) return
    call check(all(section%step == [-4_int64, 0_int64, -2_int64]), 'sections with steps')
    call check(all(bytes == bytes_again), 'bytes in a file')
    call check(all(abs(pairs - pairs_again) <= 0), 'complex numbers in a file')
    call check(all(states%step == states_again%step) .and. all(abs(states%time - states_again%time) <= 0), &
      'structures in a file')
  end subroutine test_types

  ! All of an array is rank 0's.
  subroutine set(field, sizes, array)
    type(redist_field), intent(out) :: field
    integer, intent(in) :: sizes(:)
    type(*), intent(in), target :: array(..)
    type(redist_box) :: box
    call redist_box_init(box)
    if (rank == 0) box%count(1:size(sizes)) = sizes
    call redist_field_set_box(field, sizes, box, array)
  end subroutine set

  ! u(::2, 3, 2:3)
  subroutine test_selection()
    type(part) :: a
    type(redist_field) :: field
    type(redist_box) :: box
    real(real64), target :: read(3, 2)
    a = make_part([6, 4, 5], 1, 1)
    call check(holds(a, .true.), 'values')
    call redist_field_set_box(field, a%sizes, a%box, a%u)
    field%selected_step(1) = 2
    field%selected_start(2:3) = [3, 2]
    field%selected_count(2:3) = [1, 2]
    call redist_write(MPI_COMM_WORLD, folder//'/plane', [field])
    call redist_box_init(box)
    box%count(1:2) = [3, 2]
    call redist_field_set_box(field, [3, 2], box, read)
    call redist_read(MPI_COMM_WORLD, folder//'/plane', [field])
    call check(abs(read(3, 1) - value_at([5, 3, 2])) <= 0 .and. abs(read(1, 2) - value_at([1, 3, 3])) <= 0, 'a selection')
    call redist_free(a%u)
  end subroutine test_selection

  subroutine test_background()
    type(part) :: a, b
    type(redist_field) :: field
    type(redist_file_request) :: request
    integer :: code
    a = make_part([6, 4, 5], 1, 0)
    b = make_part([6, 4, 5], 2, 1)
    call check(holds(a, .true.), 'values')
    call redist_field_set_box(field, a%sizes, a%box, a%u)
    call redist_write_start(MPI_COMM_WORLD, folder//'/background', [field], request)
    a%u = 0
    call redist_file_wait(request)
    call redist_file_wait(request, code)
    call check(code == REDIST_ERR_NULL, 'waits twice')
    call redist_field_set_box(field, b%sizes, b%box, b%u)
    call redist_read(MPI_COMM_WORLD, folder//'/background', [field])
    call check(holds(b, .false.), 'a write in the background')
    call redist_free(a%u)
    call redist_free(b%u)
  end subroutine test_background

  subroutine test_checkpoint()
    type(part) :: a, b
    type(redist_field) :: fields(2), again
    type(redist_checkpoint_request) :: request
    type(redist_checkpoint_info) :: info
    type(state) :: now, then
    integer, target :: numbers(2, 3)
    type(redist_box) :: box
    a = make_part([6, 4, 5], 3, 1)
    b = make_part([6, 4, 5], 2, 0)
    now = state(1.5d0, 300)
    numbers = 7
    call check(holds(a, .true.), 'values')
    call redist_field_set_box(fields(1), a%sizes, a%box, a%u, 'u ')
    call redist_box_init(box)
    if (rank == nranks - 1) box%count(1:2) = [2, 3]
    call redist_field_set_box(fields(2), [2, 3], box, numbers, name='table/numbers')
    call redist_checkpoint_write(MPI_COMM_WORLD, folder//'/checkpoint', fields)
    call redist_checkpoint_write_start(MPI_COMM_WORLD, folder//'/checkpoint', fields, request, now, keep=1, &
      piece_bytes=100_c_size_t)
    a%u = 0
    call redist_checkpoint_wait(request)

    call redist_field_set_box(again, b%sizes, b%box, b%u, 'u')
    then = state(0d0, 0)
    call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/checkpoint', [again], then)
    call check(then%step == 300 .and. abs(then%time - 1.5d0) <= 0, 'parameters')
    call check(holds(b, .false.), 'a checkpoint')
    b%u = 0
    call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/checkpoint.1', [again])
    call check(holds(b, .false.), 'the checkpoint before, without parameters')

    call redist_checkpoint_get_info(MPI_COMM_WORLD, folder//'/checkpoint', info)
    call check(size(info%fields) == 2 .and. info%fields(1)%name == 'u' .and. info%fields(1)%type == 'double', &
      'the first field')
    call check(all(info%fields(1)%sizes == [6, 4, 5]) .and. info%fields(1)%element_bytes == 8, 'its extents')
    call check(info%fields(2)%name == 'table/numbers' .and. info%fields(2)%type == 'int32' .and. &
      all(info%fields(2)%sizes == [2, 3]), 'the second field')
    then = transfer(info%parameters, then)
    call check(size(info%parameters) == 16 .and. then%step == 300 .and. info%seconds > 0, 'parameters of the contents')
    call redist_checkpoint_get_info(MPI_COMM_WORLD, folder//'/checkpoint.1', info)
    call check(size(info%parameters) == 0, 'contents without parameters')
    call redist_free(a%u)
    call redist_free(b%u)
  end subroutine test_checkpoint

  subroutine test_conversion()
    type(part) :: a
    real(real32), allocatable, target :: single(:, :, :)
    type(redist_field) :: field
    integer :: code
    a = make_part([6, 4, 5], 2, 0)
    call check(holds(a, .true.), 'values')
    allocate (single(a%n(1), a%n(2), a%n(3)))
    single = real(a%u, real32)
    call redist_field_set_box(field, a%sizes, a%box, single, 'u')
    call redist_checkpoint_write(MPI_COMM_WORLD, folder//'/single', [field], [1, 2, 3])
    a%u = 0
    call redist_field_set_box(field, a%sizes, a%box, a%u, 'u')
    call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/single', [field], ierror=code)
    call check(code == REDIST_ERR_DATATYPE, 'another precision')
    call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/single', [field], convert=.true.)
    call check(holds(a, .false.), 'another precision, converted')
    call redist_free(a%u)
  end subroutine test_conversion

  ! A physical side in one plan's parts, read into those of another one.
  subroutine test_transform(batch, batch_position, ghosts)
    integer, intent(in) :: batch, batch_position, ghosts
    type(fftnd_plan) :: plans(2)
    type(fftnd_layout) :: layout
    type(redist_field) :: field
    real(real64), pointer :: u(:, :, :), v(:, :, :, :)
    integer :: code
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 5, 6], FFTND_R2C, FFTND_DOUBLE, plans(1), effort=FFTND_ESTIMATE, &
      ghosts_low=[ghosts, 0, ghosts], ghosts_high=[0, ghosts, 0])
    call fftnd_plan_create(MPI_COMM_WORLD, [8, 5, 6], FFTND_R2C, FFTND_DOUBLE, plans(2), effort=FFTND_ESTIMATE, &
      order=[2, 1, 3], batch=batch, batch_position=batch_position)
    call fftnd_alloc(plans(1), FFTND_PHYSICAL, u)
    call set_values(plans(1), u)
    if (random(2) == 1) then
      call fftnd_plan_field(plans(1), FFTND_PHYSICAL, u, field)
    else ! without the ghosts
      call fftnd_plan_layout(plans(1), FFTND_PHYSICAL, layout)
      call fftnd_plan_field(plans(1), FFTND_PHYSICAL, u(layout%start(1):layout%start(1) + layout%count(1) - 1, &
        layout%start(2):layout%start(2) + layout%count(2) - 1, layout%start(3):layout%start(3) + layout%count(3) - 1), &
        field)
    end if
    call redist_write(MPI_COMM_WORLD, folder//'/side', [field])
    if (rank == 0) call check(file_holds(folder//'/side', [8, 5, 6], 0), 'the file of a side')
    ! all of a batch at once: the same numbers twice
    call redist_write(MPI_COMM_WORLD, folder//'/batch', [(field, code=1, batch)])
    call fftnd_alloc(plans(2), FFTND_PHYSICAL, v)
    v = -1
    call fftnd_plan_field(plans(2), FFTND_PHYSICAL, v, field, 'v')
    call check(field%ndims == merge(4, 3, batch > 1) .and. (batch == 1 .or. field%sizes(4) == batch), 'a batch')
    call redist_read(MPI_COMM_WORLD, folder//'/batch', [field])
    call check_fields(v, batch_position == FFTND_BATCH_LAST)
    call redist_free(u)
    call redist_free(v)
    do code = 1, 2
      call fftnd_plan_free(plans(code))
    end do
  end subroutine test_transform

  ! Sets this rank's points, and not the ghosts.
  subroutine set_values(plan, u)
    type(fftnd_plan), intent(in) :: plan
    real(real64), pointer, intent(in) :: u(:, :, :)
    type(fftnd_layout) :: layout
    integer :: i, j, k
    call fftnd_plan_layout(plan, FFTND_PHYSICAL, layout)
    u = -1
    do k = int(layout%start(3)), int(layout%start(3) + layout%count(3)) - 1
      do j = int(layout%start(2)), int(layout%start(2) + layout%count(2)) - 1
        do i = int(layout%start(1)), int(layout%start(1) + layout%count(1)) - 1
          u(i, j, k) = value_at([i, j, k])
        end do
      end do
    end do
  end subroutine set_values

  subroutine check_fields(v, is_last)
    real(real64), pointer, intent(in) :: v(:, :, :, :)
    logical, intent(in) :: is_last
    integer :: i, j, k, l, place(3)
    logical :: right
    right = .true.
    do l = lbound(v, 4), ubound(v, 4)
      do k = lbound(v, 3), ubound(v, 3)
        do j = lbound(v, 2), ubound(v, 2)
          do i = lbound(v, 1), ubound(v, 1)
            place = merge([j, k, l], [i, j, k], is_last)
            right = right .and. abs(v(i, j, k, l) - value_at(place)) <= 0
          end do
        end do
      end do
    end do
    call check(right, 'a side with a batch')
  end subroutine check_fields

  ! A transform in place has padding between rows; of one without elements the address does not count.
  subroutine test_padding()
    type(fftnd_plan) :: plan
    type(redist_field) :: field
    real(real64), pointer :: u(:, :)
    complex(real64), pointer :: modes(:, :), again(:, :)
    integer :: i, j
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 2], FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE, in_place=.true.)
    call fftnd_alloc(plan, FFTND_PHYSICAL, u)
    call fftnd_point(plan, FFTND_SPECTRAL, u, modes)
    do j = lbound(u, 2), ubound(u, 2)
      do i = lbound(u, 1), ubound(u, 1)
        u(i, j) = 3*i + 5*j
      end do
    end do
    call fftnd_plan_field(plan, FFTND_PHYSICAL, u, field)
    call redist_write(MPI_COMM_WORLD, folder//'/padded', [field])
    u = 0
    call redist_read(MPI_COMM_WORLD, folder//'/padded', [field])
    do j = lbound(u, 2), ubound(u, 2)
      do i = lbound(u, 1), ubound(u, 1)
        call check(abs(u(i, j) - 3*i - 5*j) <= 0, 'an array with padding')
      end do
    end do
    call fftnd_forward(plan, u, modes)
    call fftnd_plan_field(plan, FFTND_SPECTRAL, modes, field, 'modes')
    call redist_write(MPI_COMM_WORLD, folder//'/modes', [field])
    call fftnd_alloc(plan, FFTND_SPECTRAL, again)
    call fftnd_plan_field(plan, FFTND_SPECTRAL, again, field, 'modes')
    call redist_read(MPI_COMM_WORLD, folder//'/modes', [field])
    call check(all(abs(again - modes) <= 0), 'modes')
    call redist_free(again)
    call redist_free(u)
    call fftnd_plan_free(plan)
  end subroutine test_padding

  ! Codes on all ranks, with a message; ranks that made a mistake have one about it.
  subroutine test_errors()
    type(part) :: a
    type(redist_field) :: field, none
    type(fftnd_plan) :: plan
    type(redist_box) :: box
    integer :: code
    real(real64), target :: small(2, 2, 2)
    logical :: is_last
    is_last = rank == nranks - 1
    a = make_part([6, 4, 5], 2, 0)
    call redist_field_set_box(field, a%sizes, a%box, a%u)
    call redist_read(MPI_COMM_WORLD, folder//'/none', [field], ierror=code)
    call check(code == REDIST_ERR_FILE .and. len(redist_error_message()) > 0, 'no file')
    call redist_write(MPI_COMM_WORLD, folder//'/wrong', [field], method='nothing', ierror=code)
    call check(code == REDIST_ERR_METHOD, 'method')
    call redist_write(MPI_COMM_WORLD, folder//'/wrong', [field], offset=-1_redist_index, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'offset')
    call redist_field_set_box(none, a%sizes, a%box, a%u, name=repeat('n', 256), ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a long name')
    call redist_write(MPI_COMM_WORLD, folder//'/wrong', [none], ierror=code)
    call check(code == REDIST_ERR_ARGUMENT .or. code == REDIST_ERR_DATATYPE, 'a field that was not made')
    if (is_last) field%start(1) = 2
    call redist_write(MPI_COMM_WORLD, folder//'/wrong', [field], ierror=code)
    call check(code == REDIST_ERR_SIZE, 'a part that is not within the array, on one rank')

    call redist_box_init(box)
    box%count(1:3) = [3, 2, 2]
    call redist_field_set_box(field, [3, 2, 2], box, small, ierror=code)
    call check(code == REDIST_ERR_SIZE, 'an array that is smaller than the box')
    box%count(1:3) = 1
    call redist_field_set_box(field, [1, 1], box, small(1:1, :, 1:1), ierror=code)
    call check(code == REDIST_ERR_ARGUMENT, 'a section with other axes')
    call fftnd_plan_create(MPI_COMM_WORLD, [6, 4, 5], FFTND_R2C, FFTND_DOUBLE, plan, effort=FFTND_ESTIMATE)
    call fftnd_plan_field(plan, FFTND_PHYSICAL, small(1:1, :, :), field, ierror=code)
    call check(code == REDIST_ERR_ARGUMENT .or. nranks > 2, 'an array that is not that of the plan')
    call fftnd_plan_free(plan)
    call redist_free(a%u)
  end subroutine test_errors

  subroutine test_checkpoint_errors()
    type(part) :: a
    type(redist_field) :: field
    integer :: code, numbers(4)
    logical :: is_last
    is_last = rank == nranks - 1
    a = make_part([6, 4, 5], 2, 0)
    call redist_field_set_box(field, a%sizes, a%box, a%u)
    call redist_checkpoint_write(MPI_COMM_WORLD, folder//'/wrong', [field], ierror=code)
    call check(code == REDIST_ERR_NULL, 'a field without a name')
    call redist_field_set_box(field, a%sizes, a%box, a%u, 'u')
    call redist_checkpoint_write(MPI_COMM_WORLD, folder//'/wrong', [field], [1, 2])
    numbers = 5
    if (is_last) then
      call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/wrong', [field], numbers(1:3:2), ierror=code)
      call check(index(redist_error_message(), 'contiguous') > 0, 'the message about parameters')
    else
      call redist_checkpoint_read(MPI_COMM_WORLD, folder//'/wrong', [field], numbers(1:2), ierror=code)
    end if
    call check(code == REDIST_ERR_ARGUMENT .and. all(numbers == 5), 'parameters that are not contiguous, on one rank')
    call redist_free(a%u)
  end subroutine test_checkpoint_errors

end program test_files
